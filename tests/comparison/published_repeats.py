"""Which of 5 answers to each of 198 questions were right, of two models: 990 bits each, as a number in base 16.

Facts from gpqa_diamond_scores.csv of evalconfidence 0.1.1 (Apache-2.0), in the order of the questions' ids.
"""

QUESTIONS, REPEATS = 198, 5
NANO = (
    "3fdfffe0ffffe8ffdfffff7fa1df003ff5c2e50101ffb2a407fe8fffe09dbfdffff1ffd3f47c9ffffe2fd6e0ffffffa3c2d7"
    "ffffffff0583bffffd06fffb07ff07ffff805ff854053006ffc1f00c1f67c1fffc1fffdffe7ee0f7f9ff03bf7ebffff420ac"
    "41f0fffbfd7e0983e0f81bf0fc1ff83e0fffffffd725cec0"
)
MINI = (
    "3e8ffc00fffe0fff5f3fd18fffff003ff377fb00002e011f1e3f204be0fff7ffffe0ffc1fc6c1fffd0207fe0047effffff27"
    "bffffc1f07dc0fffe8043f0f9adf07fdf40000fa00207f616fc7f07bbf05c1ffec12ffdd287fe0f7c9ff9fffc5c30ffc1022"
    "01f37ffefffe003be0ff81f07fbff8bffffddf0fffcb83e0"
)


def right(model):
    """A list of {0, 1} for each question."""
    bits = format(int(model, 16), f"0{QUESTIONS * REPEATS}b")
    return [[int(bit) for bit in bits[at : at + REPEATS]] for at in range(0, len(bits), REPEATS)]
