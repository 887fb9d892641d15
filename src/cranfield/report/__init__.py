"""One page about some runs, in one file that works offline."""

from cranfield.report.tested import write_test
from cranfield.report.writing import ReportFile, write_comparison, write_report

__all__ = ["ReportFile", "write_comparison", "write_report", "write_test"]
