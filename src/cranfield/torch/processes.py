"""Several processes that share a corpus: what each counts in its part is put together by torch.distributed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from cranfield.errors import InputError


class Sharing(Protocol):
    """Puts together what the processes have of a tensor, the same on all of them."""

    def first(self, size: Callable[[], int], device: torch.device) -> int: ...
    def whole(self, size: int, longest: int, device: torch.device) -> tuple[int, int]: ...
    def sum(self, counts: Tensor) -> Tensor: ...
    def known(self, values: Tensor, mine: Tensor) -> Tensor: ...


class Alone:
    """One process that has the whole corpus."""

    def first(self, size: Callable[[], int], device: torch.device) -> int:
        """The number of the first document here; size: counts those here, which may take a pass over them."""
        return 0

    def whole(self, size: int, longest: int, device: torch.device) -> tuple[int, int]:
        """How many documents there are everywhere, and the longest shard anywhere."""
        return size, longest

    def sum(self, counts: Tensor) -> Tensor:
        """The sum over all processes."""
        return counts

    def known(self, values: Tensor, mine: Tensor) -> Tensor:
        """The values of the process that has each one; those that nobody has are 0."""
        return values


class Group:
    """The processes of a group; the documents of the first come first, then those of the second, and so on."""

    def __init__(self, group: Any) -> None:
        from torch import distributed

        if not (distributed.is_available() and distributed.is_initialized()):
            hint = "call torch.distributed.init_process_group first, as torchrun's scripts do"
            raise InputError("group", "torch.distributed has no processes yet.", hint=hint)
        self._all: Any = distributed
        self._group: Any = group
        self._rank: int = distributed.get_rank(group)
        if self._rank < 0:
            raise InputError("group", "this process is not in it.")

    def first(self, size: Callable[[], int], device: torch.device) -> int:
        return int(self._every([size()], device)[: self._rank].sum())

    def whole(self, size: int, longest: int, device: torch.device) -> tuple[int, int]:
        sizes, longests = self._every([size, longest], device).unbind(1)
        return int(sizes.sum()), int(longests.max())

    def _every(self, numbers: list[int], device: torch.device) -> Tensor:
        """The numbers of all processes, a row for each."""
        mine = torch.tensor(numbers, device=device)
        every = [torch.empty_like(mine) for _ in range(self._all.get_world_size(self._group))]
        self._all.all_gather(every, mine, group=self._group)
        return torch.stack(every).cpu()

    def sum(self, counts: Tensor) -> Tensor:
        total = counts.clone()
        self._all.all_reduce(total, group=self._group)
        return total

    def known(self, values: Tensor, mine: Tensor) -> Tensor:
        # As bytes, of which all processes but one have zeros: so no bit changes, whatever the precision.
        own = values.contiguous().view(torch.uint8).view(len(values), -1)
        return self.sum(own.masked_fill(~mine[:, None], 0)).view(-1).view(values.dtype).view(values.shape)
