import { describe, expect, it } from '@jest/globals';
import { describeFinding, describeFindings, isOfEvents, type LedgerFinding } from './findings.js';

const at = { position: '7', stream: 's', revision: 2, id: 'e' };
const event = 'the event at position 7 (e, s revision 2)';

describe('a finding of the ledger', () => {
  it.each<[LedgerFinding, boolean, string]>([
    [{ kind: 'changed', ...at }, true, `${event} is not the one that was recorded there`],
    [{ kind: 'unreadable', ...at }, true, `${event} cannot be read any more`],
    [{ kind: 'forged', ...at }, false, `${event} was not written by the service`],
    [{ kind: 'moved', ...at, from: '5' }, true, `${event} was recorded at position 5`],
    [{ kind: 'inserted', ...at }, true, `${event} was inserted: none was recorded there`],
    [{ kind: 'deleted', position: '7' }, true, 'the event at position 7 is missing'],
    [
      { kind: 'truncated', events: 0, size: 9, signed_at: null, ends_at: null, ended_at: '12' },
      true,
      'events are missing at the end: there are 0 of 9; the log ends at position none, not 12',
    ],
    [
      { kind: 'truncated', events: 5, size: 9, signed_at: 'then', ends_at: '7', ended_at: '12' },
      true,
      'events are missing at the end: there are 5 of 9 that were signed at then; the log ends at position 7, not 12',
    ],
    [
      { kind: 'rewritten', size: 9, since: 4, signed_at: 'then' },
      false,
      'the first 9 events are not those that were signed at then; the first 4 are',
    ],
    [{ kind: 'ledger', what: 'a row' }, false, 'the tables of the ledger were changed: a row'],
    [{ kind: 'head', size: 9, why: 'x' }, false, 'the head over 9 events is not to be trusted: x'],
    [{ kind: 'key', key_id: 'k', why: 'x' }, false, 'the key k is not to be trusted: x'],
  ])('is described by a whole sentence: %j', (finding, ofEvents, sentence) => {
    expect([describeFinding(finding), isOfEvents(finding)]).toEqual([sentence, ofEvents]);
  });

  it('is listed as a consequence after the finding that caused it, otherwise as a change', () => {
    const rewritten: LedgerFinding = { kind: 'rewritten', size: 9, since: 4, signed_at: 'then' };
    const deleted: LedgerFinding = { kind: 'deleted', position: '7' };
    const [cause, follows] = [describeFinding(deleted), describeFinding(rewritten)];
    expect(describeFindings([rewritten, deleted])).toEqual([`CHANGED   ${cause}`, `  FOLLOWS ${follows}`]);
    expect(describeFindings([rewritten])).toEqual([`CHANGED   ${follows}`]);
  });
});
