"""`cranfield split`: interactions to learn from, and the last ones of each user to measure by."""

from __future__ import annotations

from cranfield.cli import options, output
from cranfield.cli.options import argument, flag, option


class SplitOptions(options.OptionGroup, section="Recommendations"):
    hold_out: int = option(
        "--hold-out", type=int, default=1, metavar="N", help="How many of each user are held out [1]."
    )
    ratings: bool = flag("--ratings", help="Use ratings as grades; otherwise each item held out has grade 1.")
    force: bool = options.FORCE


@options.command("split", interactions=argument(), folder=argument())
def command(interactions: str, folder: str, split: SplitOptions) -> None:
    """Split INTERACTIONS of users with items: hold out the last ones of each user, to measure a recommender by.

    INTERACTIONS has the columns user_id, item_id, timestamp, and perhaps rating. FOLDER gets train.csv, from which the
    recommender may learn, and qrels.csv, the items that it should recommend. What is not held out is counted.

    \b
    Example:
      cranfield split ratings.csv shop/ --hold-out 2
    """
    from cranfield.ranks.interactions import read_interactions, write_split

    made = read_interactions(interactions).leave_last_out(split.hold_out)
    train, qrels = write_split(made, folder, ratings=split.ratings, force=split.force)
    output.say(str(made))
    output.say(f"Written: {train} and {qrels}.")
