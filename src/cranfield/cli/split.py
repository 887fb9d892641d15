"""`cranfield split`: interactions to learn from, and the last ones of each user to measure by."""

from __future__ import annotations

from cranfield.cli import options, output
from cranfield.cli.options import argument, flag, option
from cranfield.show.layout import wrapped


class SplitOptions(options.OptionGroup, section="Recommendations"):
    hold_out: int = option(
        "--hold-out", type=int, default=1, metavar="N", help="How many interactions of each user to hold out [1]."
    )
    ratings: bool = flag("--ratings", help="Use ratings as grades; otherwise each item held out has grade 1.")
    force: bool = options.FORCE


@options.command("split", interactions=argument(), folder=argument())
def command(interactions: str, folder: str, split: SplitOptions) -> None:
    """Hold out the last INTERACTIONS of each user, to measure a recommender by them.

    INTERACTIONS is a file with the columns user_id, item_id and timestamp, and perhaps rating. train.csv in FOLDER is
    what the recommender may learn from; qrels.csv has the items that it should recommend. Users of whom nothing could
    be held out are counted.

    \b
    Example:
      cranfield split ratings.csv shop/ --hold-out 2
    """
    from cranfield.ranks.interactions import read_interactions, write_split

    made = read_interactions(interactions).leave_last_out(split.hold_out)
    train, qrels = write_split(made, folder, ratings=split.ratings, force=split.force)
    held_out, *notes = str(made).splitlines()
    output.write(wrapped(held_out, hang=2, width=output.width()))
    for note in notes:
        output.write(wrapped(note.strip(), "  ", hang=4, width=output.width()))
    output.say(f"Written: {train} and {qrels}.")
