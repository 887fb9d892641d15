"""What cannot be imported without an optional library is not collected for its examples."""

from importlib.util import find_spec

collect_ignore = []
if not find_spec("torch"):
    collect_ignore.append("src/cranfield/torch")
elif not find_spec("triton"):
    collect_ignore.append("src/cranfield/torch/kernels.py")
