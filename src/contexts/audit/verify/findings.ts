import { FindingList } from '../../../kernel/finding-list.js';

interface Violation {
  readonly position: string;
  readonly rule: string;
}

export class Violations extends FindingList<Violation> {
  constructor() {
    super(1000);
  }
}

/** A change of the log or the ledger that somebody other than the service wrote. */
export type LedgerFinding =
  /** The event differs from the recorded one, is invalid JSON, has no valid MAC, or was inserted or moved. */
  | {
      readonly kind: 'changed' | 'unreadable' | 'forged' | 'inserted' | 'moved';
      readonly position: string;
      readonly stream: string;
      readonly revision: number;
      readonly id: string;
      /** The position at which a moved event was recorded. */
      readonly from?: string;
    }
  | { readonly kind: 'deleted'; readonly position: string }
  /** The log ends after `events` of `size` events, at `ends_at` (null if empty) instead of `ended_at`. */
  | {
      readonly kind: 'truncated';
      readonly events: number;
      readonly size: number;
      readonly signed_at: string | null;
      readonly ends_at: string | null;
      readonly ended_at: string;
    }
  /** The first `since` events match a signed head; the first `size` do not. */
  | { readonly kind: 'rewritten'; readonly size: number; readonly since: number; readonly signed_at: string }
  | { readonly kind: 'ledger'; readonly what: string }
  | { readonly kind: 'head'; readonly size: number; readonly why: string }
  | { readonly kind: 'key'; readonly key_id: string; readonly why: string };

/** The kinds of findings about events, which may be the cause of other findings. */
const CAUSES = ['changed', 'unreadable', 'moved', 'inserted', 'deleted', 'truncated'];

export function isOfEvents({ kind }: LedgerFinding): boolean {
  return CAUSES.includes(kind);
}

export function describeFindings(findings: readonly LedgerFinding[]): readonly string[] {
  const causes = findings.filter(isOfEvents);
  const follows = (finding: LedgerFinding): boolean => causes.length > 0 && finding.kind === 'rewritten';
  return [
    ...findings.filter((each) => !follows(each)).map((each) => `CHANGED   ${describeFinding(each)}`),
    ...findings.filter(follows).map((each) => `  FOLLOWS ${describeFinding(each)}`),
  ];
}

export function describeFinding(finding: LedgerFinding): string {
  const event = (what: string): string => {
    const { position, id, stream, revision } = finding as Extract<LedgerFinding, { revision: number }>;
    return `the event at position ${position} (${id}, ${stream} revision ${revision}) ${what}`;
  };
  switch (finding.kind) {
    case 'changed':
      return event('is not the one that was recorded there');
    case 'unreadable':
      return event('cannot be read any more');
    case 'forged':
      return event('was not written by the service');
    case 'inserted':
      return event('was inserted: none was recorded there');
    case 'moved':
      return event(`was recorded at position ${finding.from}`);
    case 'deleted':
      return `the event at position ${finding.position} is missing`;
    case 'truncated': {
      const { events, size, signed_at, ends_at, ended_at } = finding;
      const signed = signed_at === null ? '' : ` that were signed at ${signed_at}`;
      return `events are missing at the end: there are ${events} of ${size}${signed}; the log ends at position ${ends_at ?? 'none'}, not ${ended_at}`;
    }
    case 'rewritten':
      return `the first ${finding.size} events are not those that were signed at ${finding.signed_at}; the first ${finding.since} are`;
    case 'ledger':
      return `the tables of the ledger were changed: ${finding.what}`;
    case 'head':
      return `the head over ${finding.size} events is not to be trusted: ${finding.why}`;
    case 'key':
      return `the key ${finding.key_id} is not to be trusted: ${finding.why}`;
  }
}
