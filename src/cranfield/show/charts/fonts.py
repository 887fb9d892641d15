"""The fonts of a chart: those that have its letters come first, since a picture is drawn with only one."""

from __future__ import annotations

import re

# Helvetica and Liberation Sans have Arial's widths, so text measured here fits wherever it is shown.
LATIN = "Helvetica, Arial, Liberation Sans, sans-serif"
# By letters that only one script has; letters shared by Japanese and Chinese count as Chinese if they are alone.
EAST_ASIAN = (
    (re.compile("[\u3040-\u30ff\uff66-\uff9f]"), "Hiragino Sans, Yu Gothic, Noto Sans CJK JP, Noto Sans JP"),
    (re.compile("[\u1100-\u11ff\uac00-\ud7af]"), "Apple SD Gothic Neo, Malgun Gothic, Noto Sans CJK KR, Noto Sans KR"),
    (
        re.compile("[\u2e80-\u2fdf\u3400-\u9fff\uf900-\ufaff]"),
        "PingFang SC, Microsoft YaHei, Noto Sans CJK SC, Noto Sans SC, WenQuanYi Micro Hei",
    ),
)


def fonts_for(text: str) -> str:
    """The fonts of a chart in which this text is written, the best first.

    >>> fonts_for("tuned").split(", ")[0], fonts_for("tuned 検索").split(", ")[0], fonts_for("ランク").split(", ")[0]
    ('Helvetica', 'PingFang SC', 'Hiragino Sans')
    """
    if text.isascii():
        return LATIN
    return ", ".join([*(fonts for letters, fonts in EAST_ASIAN if letters.search(text)), LATIN])
