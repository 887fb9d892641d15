// The Python face of the native part. Every function here has a twin in Python with the same contract; where the input
// is anything but plain, it returns None and the twin takes the block, so errors have one voice. The twins are listed in
// native/__init__.py.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "calculating.hpp"
#include "scanning.hpp"
#include "whole.hpp"

namespace nb = nanobind;
using namespace cranfield;

NB_MODULE(_native, m) {
    const auto drawn = nb::cast<nb::bytes>(nb::module_::import_("os").attr("urandom")(sizeof secret));
    std::memcpy(secret.data(), drawn.data(), sizeof secret);
    nb::class_<OwnedIndex>(m, "Index").def(nb::init<Text, Integers, Text, Integers, Integers>());
    nb::class_<Layout>(m, "Layout")
        .def("__init__", [](Layout* self, int query, int document, int value, int least, int most, int rank,
                            const std::string& separator, bool ranks, bool counted, bool single) {
            new (self) Layout(
                checked_layout(query, document, value, least, most, rank, separator, ranks, counted, single));
        });
    m.def("scan_text", &scan_text);
    m.def("read_judgments", &read_judged);
    nb::class_<Ahead>(m, "Ahead")
        .def("__init__", [](Ahead* self, const nb::tuple& qrels, const nb::list& runs, const Layout& qrels_layout,
                            const Layout& run_layout, std::size_t threads) {
            require(threads > 0 && threads <= 1 << 10, "threads", "must be between 1 and 1,024");
            const auto open_file = [](nb::handle file) {
                const auto head = nb::cast<nb::bytes>(file[1]);
                return OpenFile{nb::cast<int>(file[0]), std::string(head.c_str(), head.size())};
            };
            std::vector<OpenFile> files;
            for (nb::handle run : runs) files.push_back(open_file(run));
            new (self) Ahead(open_file(qrels), std::move(files), qrels_layout, run_layout, threads);
        });
    m.def("judged_ahead", &judged_ahead);
    m.def("scanned_ahead", &scanned_ahead);
    m.def("scan_frame", &scan_frame);
    m.def("judge_frame", &judge_frame);
    m.def("judge_dicts", &judge_dicts);
    m.def("scan_dicts", &scan_dicts);
    m.def("first_of_text", &first_of_text);
    m.def("codes", &codes);
    m.def("partition", &partition);
    m.def("largest_differences", &largest);
    m.def("largest_fractions", &fractions);
    m.def("match_documents", &match_documents);
    m.def("places_of_text", &places_of_text);
    m.def("ranked_text", &ranked_text);
    m.def("line_up", &line_up);
    m.def("run_lines", &run_lines);
    m.def("count_above", &count_above);
    // A copy of the values would be added up for nobody.
    m.def("add_up", &add_up<double>, nb::arg().noconvert(), nb::arg());
    m.def("add_up", &add_up<std::int64_t>, nb::arg().noconvert(), nb::arg());
}
