/** A word that readers had to learn, how a text matches it, and what the field calls it. */
interface BannedWord {
  readonly word: string;
  readonly matches: RegExp;
  readonly instead: string;
}

const banned = (word: string, forms: string, instead: string): BannedWord => ({
  word,
  matches: new RegExp(`\\b(?:${forms})(?!\\w)`, 'g'),
  instead,
});

/** Matched in lower case, with the words of an identifier apart (`toldTo` is "told to"). */
const BANNED_WORDS: readonly BannedWord[] = [
  banned('tell', 'tell|tells|telling|told', 'notify, report, payload'),
  banned('look', 'look|looks|looked|looking', 'check, poll, read, observe, observation'),
  banned('MOST_, LEAST_', '(?:most|least)#', 'MAX_, MIN_'),
  banned('stand', 'stand|stands|standing|stood', 'is, state, status, stalled'),
  banned('away', 'away', 'unavailable, outage'),
  banned('under way', 'under way|underway', 'in flight, pending, in progress'),
  banned('beside', 'beside', 'alongside, next to, metadata, companion'),
  banned('by itself', 'by itself|by themselves|of its own', 'automatically, separately'),
  banned('anew', 'goes on|go on|anew|once more|comes to', 'continues, again, results in'),
  banned('nobody', 'nobody|whoever|whatever', 'no process, no caller, any value'),
  banned('door', 'doors?', 'entry point, guard, access'),
  banned('turn', 'turns?', 'round robin, fair share'),
  banned('patience', 'patience|patient|persevere', 'timeout, retry'),
  banned('silent', 'silent|silence', 'unresponsive, backoff'),
  banned('leaving', 'leaving', 'deactivating'),
  banned('owed', 'owed|owes', 'refundable, due'),
  banned('vouched', 'vouched|heeded|lest|befall|befell|farewell', 'trusted, honoured, unless, shutdown'),
  banned('twin', 'twins?', 'shadow table'),
  banned('made', 'made|remade', 'created, rebuilt'),
  banned('taken', 'taken', 'claimed'),
  banned('shown', 'shown', 'displayed'),
  banned('asked', 'asked|asks', 'requested, requests'),
  banned('kept beside', 'kept beside', 'retained'),
  banned('answer', 'answers?|answered|answering', 'response, respond'),
  banned('unanswered', 'unanswered', 'no response'),
  banned(
    'manner',
    'manner|advice|handover|framer|moment|pace|opening|absences|acting|agreement',
    'name the thing: mode, hint, channel, embedder, timestamp, rate limit, session start, quorum',
  ),
  banned('judge', 'judges?|judged|judging', 'verify, evaluate'),
  banned('wanted', 'wanted', 'requested, desired'),
  banned('give back', 'gives? back|puts? back|given back|gave back|giving back', 'refund, requeue'),
  banned('hold against', 'holds? against|held against', 'compare with, verify against'),
  banned('hear', 'hears|heard of', 'receives, is notified of'),
];

/** Identifiers and file names split: `payoutLook` and `PAYOUT_LOOK` are "payout look", `MOST_LOOKS` is "most_ looks". */
function wordsOf(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/\b(MOST|LEAST)_/g, '$1# ')
    .replaceAll(/[_-]/g, ' ')
    .toLowerCase();
}

/** How often each banned word is in the texts. */
export function countWords(texts: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = Object.fromEntries(BANNED_WORDS.map(({ word }) => [word, 0]));
  for (const text of texts) {
    const words = wordsOf(text);
    for (const { word, matches } of BANNED_WORDS) {
      counts[word] = (counts[word] ?? 0) + (words.match(matches)?.length ?? 0);
    }
  }
  return counts;
}
