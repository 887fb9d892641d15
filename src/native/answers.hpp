// Results as Python objects: columns as NumPy arrays, ids as strings, judgments as an index for scans.

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "boundary.hpp"
#include "judgments.hpp"
#include "rank.hpp"

namespace cranfield {

namespace nb = nanobind;

template <class Scalar>
nb::object to_numpy(std::vector<Scalar>&& values) {
    auto* kept = new std::vector<Scalar>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<Scalar>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, Scalar, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

inline nb::bytes to_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

// Keeps the arrays whose bytes the index points into.
struct OwnedIndex : Index {
    Text query_text, document_text;

    std::shared_ptr<const std::string> kept_text;

    // Of judgments that were read from one of these.
    OwnedIndex(const JudgedColumns& judged, Text text) : Index(index_of(judged)), document_text(text) {}
    OwnedIndex(const JudgedColumns& judged, std::shared_ptr<const std::string> text)
        : Index(index_of(judged)), kept_text(std::move(text)) {}

    OwnedIndex(Text queries_, Integers query_offsets, Text documents_, Integers document_offsets, Integers rows)
        : query_text(queries_), document_text(documents_) {
        const Ids query_ids(query_text, query_offsets, "query_offsets");
        const Ids document_ids(document_text, document_offsets, "document_offsets");
        require_first_rows(rows, query_ids.size(), document_ids.size());
        first.assign(rows.data(), rows.data() + rows.size());
        for (std::size_t q = 0; q < query_ids.size(); ++q) queries.emplace(query_ids[q], q);
        documents.reserve(document_ids.size());
        hashes.reserve(document_ids.size());
        for (std::size_t d = 0; d < document_ids.size(); ++d) {
            documents.push_back(document_ids[d]);
            hashes.push_back(hash(documents.back()));
        }
    }
};

inline nb::tuple answer(Found&& found) {
    return nb::make_tuple(to_numpy(std::move(found.row)), to_numpy(std::move(found.above)),
                          to_numpy(std::move(found.before)), to_numpy(std::move(found.tied)));
}

inline nb::list to_strings(const std::vector<std::string_view>& ids) {
    nb::list out;
    for (std::string_view id : ids) out.append(nb::str(id.data(), id.size()));
    return out;
}

template <class Owner>
nb::object answer(const JudgedColumns& columns, Owner text) {
    nb::object index = nb::cast(new OwnedIndex(columns, text), nb::rv_policy::take_ownership);
    return nb::make_tuple(to_strings(columns.queries), to_strings(columns.documents),
                          to_numpy(std::vector(columns.first)), to_numpy(std::vector(columns.grades)), index);
}

}  // namespace cranfield
