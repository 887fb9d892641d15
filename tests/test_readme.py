"""What the README shows is what happens."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_python_examples():
    examples = "\n".join(re.findall(r"```python\n(.*?)```", README, re.S))
    assert ">>> result = cranfield.evaluate" in examples
    test = doctest.DocTestParser().get_doctest(examples, {}, "README.md", None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test)
    assert runner.failures == 0


def test_the_demo_prints_what_is_shown():
    [shown] = re.findall(r"\$ cranfield demo\n(.*?)```", README, re.S)
    code = "from cranfield.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "demo"], capture_output=True, text=True, check=True)
    assert done.stdout == shown
