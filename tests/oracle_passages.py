"""Naive loops for passages and chunks, straight from the definitions. Nothing here is shared with the package.

`chunks` are the places of a ranking, best first: (document, start, end). `passages` are (document, start, end, grade);
one without places (None, None) is a document that is judged as a whole. `texts` gives the length of each document.
"""


def letters(document, start, end):
    return {(document, at) for at in range(start, end)}


def gold(passages, texts, rel):
    found = set()
    for document, start, end, grade in passages:
        if grade >= rel:
            found |= letters(document, 0, len(texts[document])) if start is None else letters(document, start, end)
    return found


def read(chunks, texts, cutoff=None, budget=None, unit="characters", fit="whole"):
    """The chunks that are read, as lists of letters."""
    found, left = [], budget
    for document, start, end in chunks[:cutoff]:
        if budget is None:
            found.append(sorted(letters(document, start, end)))
            continue
        cost = len(texts[document][start:end].split()) if unit in ("words", "tokens") else end - start
        if cost > left:
            if fit == "cut":
                found.append(sorted(letters(document, start, end))[:left])
            break
        found.append(sorted(letters(document, start, end)))
        left -= cost
    return found


def union(parts):
    return {letter for part in parts for letter in part}


def recall(passages, chunks, texts, *, rel=1, **reading):
    wanted = gold(passages, texts, rel)
    return len(wanted & union(read(chunks, texts, **reading))) / len(wanted) if wanted else 0


def precision(passages, chunks, texts, *, rel=1, **reading):
    seen = union(read(chunks, texts, **reading))
    return len(gold(passages, texts, rel) & seen) / len(seen) if seen else 0


def read_precision(passages, chunks, texts, *, rel=1, **reading):
    parts = read(chunks, texts, **reading)
    total = sum(len(part) for part in parts)
    return len(gold(passages, texts, rel) & union(parts)) / total if total else 0


def f_measure(passages, chunks, texts, *, beta=1, **chosen):
    p, r = precision(passages, chunks, texts, **chosen), recall(passages, chunks, texts, **chosen)
    return (1 + beta**2) * p * r / (beta**2 * p + r) if p + r else 0


def intersection_over_union(passages, chunks, texts, *, rel=1, **reading):
    wanted, seen = gold(passages, texts, rel), union(read(chunks, texts, **reading))
    return len(wanted & seen) / len(wanted | seen) if wanted | seen else 0


def is_in(passage, seen, cover):
    """Whether enough of a passage is among some letters."""
    document, start, end, _ = passage
    if start is None:
        return any(each == document for each, _ in seen)
    return len(letters(document, start, end) & seen) / (end - start) >= cover


def passage_recall(passages, chunks, texts, *, rel=1, cover=0.5, **reading):
    relevant = [each for each in passages if each[3] >= rel]
    seen = union(read(chunks, texts, **reading))
    return sum(is_in(each, seen, cover) for each in relevant) / len(relevant) if relevant else 0


def grades(passages, chunks, cover=0.5):
    """The grade of each chunk, None where it is unjudged, and the grades of the passages that were missed."""
    judged = [each for each in passages if each[3] >= 0]
    found, result = set(), []
    for chunk in chunks:
        seen = letters(*chunk)
        new = [at for at, each in enumerate(judged) if at not in found and is_in(each, seen, cover)]
        found |= set(new)
        touched = any(is_in((*each[:3], 0), seen, 1e-9) for each in judged)
        result.append(max([judged[at][3] for at in new], default=0) if touched else None)
    return result, [each[3] for at, each in enumerate(judged) if at not in found]


def by_chroma(passages, chunks):
    """Recall, precision and IoU as chunking_evaluation defines them; golds that do not overlap."""
    wanted, parts = gold(passages, {}, 1), [letters(*chunk) for chunk in chunks]
    shared, total = len(wanted & union(parts)), sum(map(len, parts))
    return shared / len(wanted), shared / total, shared / (total + len(wanted) - shared)


def by_legalbench(passages, chunks):
    """Recall and precision as LegalBench-RAG defines them: credit for each chunk and gold."""
    golds, parts = [letters(*each[:3]) for each in passages], [letters(*chunk) for chunk in chunks]
    credit = sum(len(one & other) for one in golds for other in parts)
    return credit / sum(map(len, golds)), credit / sum(map(len, parts))


ORACLES = {
    "PassageR": passage_recall,
    "TextR": recall,
    "TextP": precision,
    "ReadP": read_precision,
    "TextF": f_measure,
    "TextIoU": intersection_over_union,
}
