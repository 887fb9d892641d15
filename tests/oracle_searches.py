"""Naive loops for the searches of a task, straight from the definitions. Nothing here is shared with the package.

`searches` are lists of documents, best first; `grades` those of the judged documents of the task; `tokens` those of
every document.
"""


def read(searches, tokens, cutoff=None, calls=None, budget=None, unit="documents", again="paid"):
    """The documents that are read, in order, as often as they are fetched."""
    found, spent = [], 0
    for search in searches[:calls]:
        for document in search[:cutoff]:
            cost = 1 if unit == "documents" else tokens[document]
            if budget is not None and not (again == "free" and document in found):
                if spent + cost > budget:
                    return found
                spent += cost
            found.append(document)
    return found


def relevant(grades, rel):
    return {document for document, grade in grades.items() if grade >= rel}


def union_recall(searches, grades, tokens, *, rel=1, **reading):
    wanted = relevant(grades, rel)
    return len(wanted & set(read(searches, tokens, **reading))) / len(wanted) if wanted else 0


def call_recall(searches, grades, tokens, *, call=1, cutoff=None, rel=1):
    wanted = relevant(grades, rel)
    if call > len(searches) or not wanted:
        return 0
    return len(wanted & set(searches[call - 1][:cutoff])) / len(wanted)


def first_call(searches, grades, cutoff, rel):
    for number, search in enumerate(searches, 1):
        if relevant(grades, rel) & set(search[:cutoff]):
            return number
    return None


def reciprocal_call(searches, grades, tokens, *, cutoff=None, rel=1):
    number = first_call(searches, grades, cutoff, rel)
    return 1 / number if number else 0


def found_by(searches, grades, tokens, *, calls=1, cutoff=None, rel=1):
    number = first_call(searches, grades, cutoff, rel)
    return float(number is not None and number <= calls)


def no_gain(searches, grades, tokens, *, cutoff=None, rel=1):
    known, without = set(), 0
    for search in searches:
        new = (relevant(grades, rel) & set(search[:cutoff])) - known
        without += not new
        known |= new
    return without / len(searches) if searches else 1


def refetched(searches, grades, tokens, *, cutoff=None):
    seen, again, fetched = set(), 0, 0
    for search in searches:
        for document in search[:cutoff]:
            again += document in seen
            fetched += 1
            seen.add(document)
    return again / fetched if fetched else 0


ORACLES = {
    "UnionR": union_recall,
    "CallR": call_recall,
    "CallRR": reciprocal_call,
    "FoundBy": found_by,
    "NoGain": no_gain,
    "Refetched": refetched,
    "Calls": lambda searches, grades, tokens: len(searches),
}


def value(measure, searches, grades, tokens):
    parameters = dict(measure.parameters)
    if parameters.pop("judged_only", False):
        searches = [[document for document in search if grades.get(document, -1) >= 0] for search in searches]
    return ORACLES[measure.definition.name](searches, grades, tokens, **parameters)
