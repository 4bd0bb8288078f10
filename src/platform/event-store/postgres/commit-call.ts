import { randomUUID } from 'node:crypto';
import { comparePositions, type Commit, type CommitResult } from '../port.js';

const GROUP_BYTES = 4 * 1024 * 1024;

export interface EncodedUnit {
  readonly commit: Commit;
  readonly bytes: number;
  readonly texts: readonly { readonly data: string; readonly metadata: string }[];
}

export interface CommitRow {
  readonly heads: readonly number[];
  readonly refused: readonly number[];
  readonly done_appends: readonly number[];
  readonly done_revisions: readonly number[] | null;
  readonly done_positions: readonly string[] | null;
  readonly responded_json: string | null;
  readonly last_position: string | null;
}

export const COMMIT_STATEMENT =
  'select * from event_store.commit_units($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17)';

export function encodeUnit(commit: Commit): EncodedUnit {
  const streams = new Set(commit.appends.map(({ stream }) => stream));
  if (streams.size < commit.appends.length) throw new Error('a commit cannot append to a stream twice');
  const texts = commit.appends.flatMap(({ events }) =>
    events.map(({ data, metadata, dataText, metadataText }) => ({
      data: dataText ?? JSON.stringify(data),
      metadata: metadataText ?? JSON.stringify(metadata),
    })),
  );
  let bytes = commit.response === undefined ? 0 : commit.response.body.length;
  for (const text of texts) bytes += text.data.length + text.metadata.length + 200;
  return { commit, texts, bytes };
}

/**
 * Returns a filter for the units of one call. It rejects a unit that shares a written stream or a response
 * key with an accepted unit. The rejected unit waits for the next call, which sees the earlier writes.
 */
export function groupOfUnits(maxBytes = GROUP_BYTES): (unit: EncodedUnit) => boolean {
  const written = new Set<string>();
  const checked = new Set<string>();
  const responses = new Set<string>();
  let total = 0;
  return ({ commit: { appends, response }, bytes }) => {
    const key = `${response?.scope} ${response?.key}`;
    const meets =
      responses.has(key) ||
      appends.some(({ stream, events }) => written.has(stream) || (events.length > 0 && checked.has(stream)));
    if (meets || (total > 0 && total + bytes > maxBytes)) return false;
    total += bytes;
    if (response !== undefined) responses.add(key);
    for (const { stream, events } of appends) (events.length > 0 ? written : checked).add(stream);
    return true;
  };
}

/** The parameters of one call. Joined texts are several times cheaper than quoted arrays. */
export function encodeCall(units: readonly EncodedUnit[], separator: string): string[] {
  const texts = units.flatMap((unit) => unit.texts);
  const appends = units.flatMap(({ commit }, unit) => commit.appends.map((append) => ({ ...append, unit })));
  const events = appends.flatMap((append, place) =>
    append.events.map((event, n) => ({ ...event, append: place + 1, place: n + 1 })),
  );
  const responses = units.flatMap(({ commit: { response } }, unit) =>
    response ? [{ ...response, unit }] : [],
  );
  const joined = (texts: readonly string[]): string => texts.join(separator);
  const array = (numbers: readonly number[]): string => `{${numbers.join(',')}}`;
  return [
    separator,
    array(appends.map(({ unit }) => unit)),
    array(appends.map(({ expected }) => (expected === 'no_stream' ? -1 : expected))),
    array(appends.map((append) => append.events.length)),
    joined(appends.map(({ stream }) => stream)),
    array(events.map(({ append }) => append)),
    array(events.map(({ place }) => place)),
    joined(events.map(({ id }) => id)),
    joined(events.map(({ type }) => type)),
    joined(texts.map(({ data }) => data)),
    joined(texts.map(({ metadata }) => metadata)),
    array(responses.map(({ unit }) => unit)),
    array(responses.map(({ status }) => status)),
    joined(responses.map(({ scope }) => scope)),
    joined(responses.map(({ key }) => key)),
    joined(responses.map(({ fingerprint }) => fingerprint)),
    joined(responses.map(({ body }) => body)),
  ];
}

/** Returns a separator that no text of the units contains. JSON escapes the control character. */
export function separatorFor(units: readonly EncodedUnit[]): string {
  const plain = '\u001e';
  const clashes = units.some(
    ({ commit: { appends, response } }) =>
      (response !== undefined &&
        [response.scope, response.fingerprint, response.body].some((text) => text.includes(plain))) ||
      appends.some(
        ({ stream, events }) => stream.includes(plain) || events.some(({ type }) => type.includes(plain)),
      ),
  );
  return clashes ? plain + randomUUID() : plain;
}

interface RespondedRow {
  readonly unit: number;
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
}

export function decodeRow(units: readonly EncodedUnit[], row: CommitRow): CommitResult[] {
  const responded = new Map<number, RespondedRow>();
  for (const each of JSON.parse(row.responded_json ?? '[]') as RespondedRow[]) responded.set(each.unit, each);
  const refused = new Set(row.refused);
  const done = new Map(row.done_appends.map((append, place) => [append, place]));
  let append = 0;
  let written = 0;
  const results = units.map(({ commit }, unit) => {
    const first = append;
    append += commit.appends.length;
    const response = responded.get(unit);
    if (response && commit.response) {
      const { fingerprint, status, body } = response;
      return { outcome: 'responded' as const, response: { ...commit.response, fingerprint, status, body } };
    }
    const conflict = commit.appends.findIndex((_, place) => refused.has(first + place + 1));
    if (conflict >= 0) {
      const head = row.heads[first + conflict]!;
      return {
        outcome: 'conflict' as const,
        stream: commit.appends[conflict]!.stream,
        actual: head < 0 ? null : head,
      };
    }
    const before = written;
    let earlier: string | null = null;
    const revisions = commit.appends.map(({ events }, place) => {
      const repeat = done.get(first + place + 1);
      if (repeat === undefined) {
        written += events.length;
        return row.heads[first + place]! + events.length;
      }
      const position = row.done_positions![repeat]!;
      if (comparePositions(position, earlier) > 0) earlier = position;
      return row.done_revisions![repeat]!;
    });
    return { outcome: 'written' as const, revisions, earlier, last: written > before ? written : null };
  });
  // Positions are consecutive under the lock, in the order of the events.
  const start = BigInt(row.last_position ?? 0) - BigInt(written);
  return results.map((result): CommitResult => {
    if (result.outcome !== 'written') return result;
    const position = result.last === null ? result.earlier : String(start + BigInt(result.last));
    return { outcome: 'committed', position, revisions: result.revisions };
  });
}
