"""Statistics of agreement as naive loops, straight from their formulas; they share no code with cranfield."""

DISTANCES = {
    "kappa": lambda a, b: float(a != b),
    "linear kappa": lambda a, b: abs(a - b),
    "quadratic kappa": lambda a, b: (a - b) ** 2,
}


def kappa(pairs, distance):
    """Kappa of (grade of one, grade of the other) for each document; None if it is undefined."""
    if not pairs:
        return None
    observed = sum(distance(a, b) for a, b in pairs) / len(pairs)
    expected = sum(distance(a, b) for a, _ in pairs for _, b in pairs) / len(pairs) ** 2
    return None if expected == 0 else 1 - observed / expected


def alpha(units, level):
    """Alpha of the grades of each document; None if it is undefined."""
    units = [grades for grades in units if len(grades) > 1]
    values = [grade for grades in units for grade in grades]
    number = {grade: values.count(grade) for grade in values}

    def distance(a, b):
        if level == "nominal alpha":
            return float(a != b)
        if level == "interval alpha":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(count for grade, count in number.items() if low <= grade <= high)
        return (between - (number[a] + number[b]) / 2) ** 2 if a != b else 0.0

    observed = 0.0
    for grades in units:
        for i, a in enumerate(grades):
            for j, b in enumerate(grades):
                if i != j:
                    observed += distance(a, b) / (len(grades) - 1)
    expected = sum(distance(a, b) for i, a in enumerate(values) for j, b in enumerate(values) if i != j)
    return None if expected == 0 else 1 - (len(values) - 1) * observed / expected


def agreed(units):
    """The mean over documents of the share of pairs of assessors who agree."""
    shares = []
    for grades in units:
        pairs = [(a, b) for i, a in enumerate(grades) for j, b in enumerate(grades) if i != j]
        if pairs:
            shares.append(sum(a == b for a, b in pairs) / len(pairs))
    return sum(shares) / len(shares) if shares else None
