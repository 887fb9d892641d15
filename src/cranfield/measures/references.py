"""The papers and books behind the measures, as BibTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from cranfield.measures.registry import Measure, catalogue
from cranfield.measures.syntax import find_definition


class Entry(NamedTuple):
    """One entry of a bibliography: its type, its key, and its fields in the order in which they are written."""

    type: str
    key: str
    fields: dict[str, str]


def _article(key: str, author: str, title: str, journal: str, year: int, **more: str) -> Entry:
    return Entry("article", key, {"author": author, "title": title, "journal": journal, "year": str(year), **more})


def _paper(key: str, author: str, title: str, booktitle: str, year: int, **more: str) -> Entry:
    fields = {"author": author, "title": title, "booktitle": booktitle, "year": str(year), **more}
    return Entry("inproceedings", key, fields)


TOIS = "ACM Transactions on Information Systems"
SIGIR = "Proceedings of the {} International ACM SIGIR Conference on Research and Development in Information Retrieval"
CIKM = "Proceedings of the {} ACM International Conference on Information and Knowledge Management"
WSDM = "Proceedings of the {} ACM International Conference on Web Search and Data Mining"
ICTIR = "Proceedings of the {} ACM SIGIR International Conference on Theory of Information Retrieval"

# By the short form that the registry uses. In titles, braces keep capitals.
REFERENCES: dict[str, Entry] = {
    "Aslam & Pavlu 2007": Entry(
        "techreport",
        "aslam2007practical",
        {
            "author": "Aslam, Javed A. and Pavlu, Virgil",
            "title": "A practical sampling strategy for efficient retrieval evaluation",
            "institution": "College of Computer and Information Science, Northeastern University",
            "year": "2007",
        },
    ),
    "Azzopardi, Mackenzie & Moffat 2021": _paper(
        "azzopardi2021err",
        "Azzopardi, Leif and Mackenzie, Joel and Moffat, Alistair",
        "{ERR} is not {C/W/L}: Exploring the relationship between expected reciprocal rank and other metrics",
        ICTIR.format("2021"),
        2021,
        pages="231–237",
    ),
    "Bailey et al. 2015": _paper(
        "bailey2015user",
        "Bailey, Peter and Moffat, Alistair and Scholer, Falk and Thomas, Paul",
        "User variability and {IR} system evaluation",
        SIGIR.format("38th"),
        2015,
        pages="625–634",
        doi="10.1145/2766462.2767728",
    ),
    "Buckley & Voorhees 2004": _paper(
        "buckley2004retrieval",
        "Buckley, Chris and Voorhees, Ellen M.",
        "Retrieval evaluation with incomplete information",
        SIGIR.format("27th Annual"),
        2004,
        pages="25–32",
        doi="10.1145/1008992.1009000",
    ),
    "Buckley & Voorhees 2005": Entry(
        "incollection",
        "buckley2005retrieval",
        {
            "author": "Buckley, Chris and Voorhees, Ellen M.",
            "title": "Retrieval system evaluation",
            "booktitle": "{TREC}: Experiment and Evaluation in Information Retrieval",
            "editor": "Voorhees, Ellen M. and Harman, Donna K.",
            "publisher": "MIT Press",
            "year": "2005",
            "chapter": "3",
        },
    ),
    "Buckley, trec_eval": Entry(
        "misc",
        "buckleytreceval",
        {
            "author": "Buckley, Chris",
            "title": "{trec_eval}: Evaluation software of the Text REtrieval Conference",
            "url": "https://github.com/usnistgov/trec_eval",
        },
    ),
    "Chapelle et al. 2009": _paper(
        "chapelle2009expected",
        "Chapelle, Olivier and Metzler, Donald and Zhang, Ya and Grinspan, Pierre",
        "Expected reciprocal rank for graded relevance",
        CIKM.format("18th"),
        2009,
        pages="621–630",
        doi="10.1145/1645953.1646033",
    ),
    "Clarke, Vtyurina & Smucker 2020": _paper(
        "clarke2020offline",
        "Clarke, Charles L. A. and Vtyurina, Alexandra and Smucker, Mark D.",
        "Offline evaluation without gain",
        ICTIR.format("2020"),
        2020,
        doi="10.1145/3409256.3409816",
    ),
    "Cleverdon 1967": _article(
        "cleverdon1967cranfield",
        "Cleverdon, Cyril W.",
        "The {Cranfield} tests on index language devices",
        "Aslib Proceedings",
        1967,
        volume="19",
        number="6",
        pages="173–194",
        doi="10.1108/eb050097",
    ),
    "Hull 1997": _paper(
        "hull1997filtering",
        "Hull, David A.",
        "The {TREC-6} filtering track: Description and analysis",
        "Proceedings of the Sixth Text REtrieval Conference (TREC-6)",
        1997,
        series="NIST Special Publication 500-240",
    ),
    "Järvelin & Kekäläinen 2002": _article(
        "jarvelin2002cumulated",
        "Järvelin, Kalervo and Kekäläinen, Jaana",
        "Cumulated gain-based evaluation of {IR} techniques",
        TOIS,
        2002,
        volume="20",
        number="4",
        pages="422–446",
        doi="10.1145/582415.582418",
    ),
    "Manning, Raghavan & Schütze 2008": Entry(
        "book",
        "manning2008introduction",
        {
            "author": "Manning, Christopher D. and Raghavan, Prabhakar and Schütze, Hinrich",
            "title": "Introduction to Information Retrieval",
            "publisher": "Cambridge University Press",
            "year": "2008",
            "doi": "10.1017/CBO9780511809071",
        },
    ),
    "Moffat & Zobel 2008": _article(
        "moffat2008rank",
        "Moffat, Alistair and Zobel, Justin",
        "Rank-biased precision for measurement of retrieval effectiveness",
        TOIS,
        2008,
        volume="27",
        number="1",
        pages="2:1–2:27",
        doi="10.1145/1416950.1416952",
    ),
    "Moffat, Scholer & Thomas 2012": _paper(
        "moffat2012models",
        "Moffat, Alistair and Scholer, Falk and Thomas, Paul",
        "Models and metrics: {IR} evaluation as a user process",
        "Proceedings of the Seventeenth Australasian Document Computing Symposium",
        2012,
        pages="47–54",
        doi="10.1145/2407085.2407092",
    ),
    "Moffat, Thomas & Scholer 2013": _paper(
        "moffat2013users",
        "Moffat, Alistair and Thomas, Paul and Scholer, Falk",
        "Users versus models: What observation tells us about effectiveness metrics",
        CIKM.format("22nd"),
        2013,
        pages="659–668",
    ),
    "Robertson 2006": _paper(
        "robertson2006gmap",
        "Robertson, Stephen",
        "On {GMAP}: And other transformations",
        CIKM.format("15th"),
        2006,
        pages="78–83",
    ),
    "Sakai 2004": _paper(
        "sakai2004new",
        "Sakai, Tetsuya",
        "New performance metrics based on multigrade relevance: Their application to question answering",
        "Proceedings of the Fourth NTCIR Workshop",
        2004,
    ),
    "Smith & Troynikov 2024": Entry(
        "techreport",
        "smith2024evaluating",
        {
            "author": "Smith, Brandon and Troynikov, Anton",
            "title": "Evaluating chunking strategies for retrieval",
            "institution": "Chroma",
            "year": "2024",
            "url": "https://research.trychroma.com/evaluating-chunking",
        },
    ),
    "Thakur et al. 2021": _paper(
        "thakur2021beir",
        "Thakur, Nandan and Reimers, Nils and Rücklé, Andreas and Srivastava, Abhishek and Gurevych, Iryna",
        "{BEIR}: A heterogeneous benchmark for zero-shot evaluation of information retrieval models",
        "Thirty-fifth Conference on Neural Information Processing Systems, Datasets and Benchmarks Track",
        2021,
    ),
    "van Rijsbergen 1979": Entry(
        "book",
        "vanrijsbergen1979information",
        {
            "author": "van Rijsbergen, C. J.",
            "title": "Information Retrieval",
            "edition": "2nd",
            "publisher": "Butterworths",
            "year": "1979",
        },
    ),
    "Voorhees 1999": _paper(
        "voorhees1999trec8",
        "Voorhees, Ellen M.",
        "The {TREC-8} question answering track report",
        "Proceedings of the Eighth Text REtrieval Conference (TREC-8)",
        1999,
        series="NIST Special Publication 500-246",
        pages="77–82",
    ),
    "Yilmaz & Aslam 2006": _paper(
        "yilmaz2006estimating",
        "Yilmaz, Emine and Aslam, Javed A.",
        "Estimating average precision with incomplete and imperfect judgments",
        CIKM.format("15th"),
        2006,
        pages="102–111",
        doi="10.1145/1183614.1183633",
    ),
    "Yilmaz, Kanoulas & Aslam 2008": _paper(
        "yilmaz2008simple",
        "Yilmaz, Emine and Kanoulas, Evangelos and Aslam, Javed A.",
        "A simple and efficient sampling method for estimating {AP} and {NDCG}",
        SIGIR.format("31st Annual"),
        2008,
        pages="603–610",
        doi="10.1145/1390334.1390437",
    ),
    "Zhang et al. 2017": _paper(
        "zhang2017evaluating",
        "Zhang, Fan and Liu, Yiqun and Li, Xin and Zhang, Min and Xu, Yinghui and Ma, Shaoping",
        "Evaluating web search with a {Bejeweled} player model",
        SIGIR.format("40th"),
        2017,
        pages="425–434",
        doi="10.1145/3077136.3080841",
    ),
    "Agrawal et al. 2009": _paper(
        "agrawal2009diversifying",
        "Agrawal, Rakesh and Gollapudi, Sreenivas and Halverson, Alan and Ieong, Samuel",
        "Diversifying search results",
        WSDM.format("Second"),
        2009,
        pages="5–14",
    ),
    "Chapelle et al. 2011": _article(
        "chapelle2011intent",
        "Chapelle, Olivier and Ji, Shihao and Liao, Ciya and Velipasaoglu, Emre and Lai, Larry and Wu, Su-Lin",
        "Intent-based diversification of web search results: Metrics and algorithms",
        "Information Retrieval",
        2011,
        volume="14",
        pages="572–592",
    ),
    "Clarke et al. 2008": _paper(
        "clarke2008novelty",
        "Clarke, Charles L. A. and Kolla, Maheedhar and Cormack, Gordon V. and Vechtomova, Olga and Ashkan, Azin and "
        "Büttcher, Stefan and MacKinnon, Ian",
        "Novelty and diversity in information retrieval evaluation",
        SIGIR.format("31st Annual"),
        2008,
        pages="659–666",
    ),
    "Clarke, Kolla & Vechtomova 2009": _paper(
        "clarke2009effectiveness",
        "Clarke, Charles L. A. and Kolla, Maheedhar and Vechtomova, Olga",
        "An effectiveness measure for ambiguous and underspecified queries",
        "Advances in Information Retrieval Theory (ICTIR 2009)",
        2009,
        pages="188–199",
    ),
    "Clarke et al. 2011": _paper(
        "clarke2011comparative",
        "Clarke, Charles L. A. and Craswell, Nick and Soboroff, Ian and Ashkan, Azin",
        "A comparative analysis of cascade measures for novelty and diversity",
        WSDM.format("Fourth"),
        2011,
        pages="75–84",
    ),
    "MacAvaney, Macdonald & Ounis 2022": _paper(
        "macavaney2022streamlining",
        "MacAvaney, Sean and Macdonald, Craig and Ounis, Iadh",
        "Streamlining evaluation with ir-measures",
        "Advances in Information Retrieval (ECIR 2022)",
        2022,
    ),
    "Sakai & Dou 2013": _paper(
        "sakai2013summaries",
        "Sakai, Tetsuya and Dou, Zhicheng",
        "Summaries, ranked retrieval and sessions: A unified framework for information access evaluation",
        SIGIR.format("36th"),
        2013,
        pages="473–482",
    ),
    "Smucker & Clarke 2012": _paper(
        "smucker2012time",
        "Smucker, Mark D. and Clarke, Charles L. A.",
        "Time-based calibration of effectiveness measures",
        SIGIR.format("35th"),
        2012,
        pages="95–104",
    ),
    "Zhai, Cohen & Lafferty 2003": _paper(
        "zhai2003beyond",
        "Zhai, ChengXiang and Cohen, William W. and Lafferty, John",
        "Beyond independent relevance: Methods and evaluation metrics for subtopic retrieval",
        SIGIR.format("26th Annual"),
        2003,
        pages="10–17",
    ),
}


def bibtex(measures: str | Measure | Iterable[str | Measure] | None = None) -> str:
    """The references of all measures, or of those named, as BibTeX: each entry once, in the order of the keys.

    A measure of your own whose reference has no entry here is named in a comment.

    measures: names of measures, or measures; by default all.
    Returns the text of a BibTeX file.

    >>> print(bibtex("nDCG@10, DCG@10"))
    @article{jarvelin2002cumulated,
      author = {J{\\"a}rvelin, Kalervo and Kek{\\"a}l{\\"a}inen, Jaana},
      title = {Cumulated gain-based evaluation of {IR} techniques},
      journal = {ACM Transactions on Information Systems},
      year = {2002},
      volume = {20},
      number = {4},
      pages = {422--446},
      doi = {10.1145/582415.582418},
    }
    """
    if measures is None:
        definitions = list(catalogue().values())
    else:
        named = re.split(r"[\s,]+", measures.strip()) if isinstance(measures, str) else measures
        definitions = [
            each.definition if isinstance(each, Measure) else find_definition(each)
            for each in ([named] if isinstance(named, Measure) else named)
        ]
    cited = sorted({definition.reference for definition in definitions if definition.reference})
    entries = [REFERENCES[reference] for reference in cited if reference in REFERENCES]
    unknown = [f"% no entry: {reference}" for reference in cited if reference not in REFERENCES]
    return "\n\n".join([*map(_written, sorted(entries, key=lambda entry: entry.key)), *unknown])


def _written(entry: Entry) -> str:
    # A doi or a URL is copied unchanged: the styles that print it expect that.
    lines = [
        f"  {name} = {{{value if name in ('doi', 'url') else _latex(value)}}}," for name, value in entry.fields.items()
    ]
    return "\n".join([f"@{entry.type}{{{entry.key},", *lines, "}"])


_ACCENTS = {"\N{COMBINING DIAERESIS}": '"', "\N{COMBINING ACUTE ACCENT}": "'", "\N{COMBINING GRAVE ACCENT}": "`"}


def _latex(text: str) -> str:
    """Text in characters that every LaTeX understands."""
    out = ""
    for letter in text:
        plain, mark = (*unicodedata.normalize("NFD", letter), "")[:2]
        out += f"{{\\{_ACCENTS[mark]}{plain}}}" if mark else plain
    return out.replace("–", "--").replace("&", r"\&").replace("_", r"\_")
