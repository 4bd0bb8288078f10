import { isMismatch, NEXT, SEEN } from './findings.js';
import { deliveryGuidance as guidanceOf } from '../kit/common/webhooks.js';
import { textAt, type Row } from '../kit/fields.js';
import { span } from '../kit/time.js';
import type { Guidance } from '../kit/resource.js';

const SEEN_BY: Readonly<Record<string, string>> = SEEN;
const NEXT_BY: Readonly<Record<string, string>> = NEXT;

/** Describes the finding of a check. Empty before the first check. */
export function findingWords(finding: string): string {
  return SEEN_BY[finding] ?? finding.replaceAll('_', ' ');
}

/** The findings about nodes and stores, for which the guidance points to the page System. */
const OF_SYSTEM = ['confirming', 'not_found', 'no_response', 'rate_limited', 'not_confirmed', 'not_written'];

/** The delay after which a due check counts as late, as `overdue` of the API. Workers need seconds. */
const CHECK_LATE_MS = 60_000;
const LATE_MS = 5 * 60_000;

export function payoutGuidance(row: Row, now: number): Guidance | null {
  if (row['status'] === 'received') return null;
  if (row['status'] === 'expired')
    return {
      tone: 'warn',
      title: 'Expired: the transfer was not confirmed in time',
      text: 'The merchant received payout.failed with the reason below. If the money did arrive, they report the transfer again.',
    };
  const next = Date.parse(textAt(row, 'check.next_at'));
  if (now - next > CHECK_LATE_MS)
    return {
      tone: 'bad',
      title: `Its check is late by ${span(now - next)}`,
      text: 'No worker has claimed it, or no node can be relied on. See the processes, the nodes and the backlogs under System: is a process with the role “worker” running?',
    };
  const finding = textAt(row, 'check.last_finding') || (textAt(row, 'check.last_at') ? 'no_response' : '');
  if (finding === 'row_changed')
    return {
      tone: 'bad',
      title: `Tampering: ${SEEN.row_changed}`,
      text: NEXT.row_changed,
    };
  if (finding === '')
    return {
      tone: 'busy',
      title: 'Waits for its first check',
      text: 'It is checked within seconds of the report.',
    };
  return {
    tone: isMismatch(finding) ? 'warn' : 'busy',
    title: `The last check: ${findingWords(finding)}`,
    text: `${NEXT_BY[finding] ?? 'It is checked again.'}${OF_SYSTEM.includes(finding) ? ' See the nodes and subscriptions under System.' : ''}`,
  };
}

export function userGuidance(row: Row, now: number): Guidance | null {
  const state = row['account_state'];
  if (state === 'deactivating')
    return {
      tone: 'warn',
      title: 'Being deactivated',
      text: 'It ends when the last pending payout of this user is received or expires. See the payouts.',
    };
  if (state === 'erased')
    return {
      tone: 'bad',
      title: 'Erased',
      text: 'The personal data cannot be recovered. Payouts and proofs remain.',
    };
  if (state !== 'onboarding') return null;
  const waits = textAt(row, 'onboarding.waiting_for');
  if (/review/.test(waits))
    return {
      tone: 'warn',
      title: 'The identity check is under review',
      text: 'Decide it in the dashboard of the provider; the service polls hourly, and at once after “Retry”. In the sandbox decide it here.',
    };
  if (waits === 'operator')
    return {
      tone: 'bad',
      title: 'No worker is on it',
      text: 'The step that should continue it is gone. “Retry” creates it again.',
    };
  if (waits === '' || waits === 'person')
    return {
      tone: 'busy',
      title: 'Waits for the person',
      text: 'They have not finished the page. There is nothing to do for an operator; the merchant can send them the link again.',
    };
  const next = Date.parse(textAt(row, 'onboarding.next_at'));
  const isLate = now - next > LATE_MS;
  return {
    tone: isLate ? 'bad' : 'busy',
    title: `Waits for: ${waits.replaceAll('_', ' ')}`,
    text: isLate
      ? `The next attempt is late by ${span(now - next)}: no worker is on it. See the processes under System, then “Retry”.`
      : 'Attempts continue automatically, at last every 5 minutes. If the provider has recovered, “Retry” tries now.',
  };
}

export function orderGuidance(row: Row): Guidance | null {
  const refundable = textAt(row, 'amount_refundable');
  if (Number(refundable) > 0)
    return {
      tone: 'warn',
      title: `${refundable} must be refunded`,
      text: 'First check the deposit at the provider: it may have refunded it already. Send what remains to the sender, then record the transaction here with “Record refund”.',
    };
  if (row['status'] === 'failed')
    return {
      tone: 'bad',
      title: 'Failed',
      text: 'Nothing is to be refunded. If the customer says that they paid, compare the deposit address below with the chain.',
    };
  return null;
}

export function deliveryGuidance(row: Row): Guidance | null {
  return guidanceOf(row, 'the', {
    disabled:
      'Its merchant enables it, in the portal or through the API. After that “Resend” sends it, or the merchant recovers all that was missed.',
    pending:
      'It is retried for about three days. The merchant has to mend the receiver: send them the attempts below.',
    exhausted:
      'Ask the merchant to mend the receiver, then “Resend”. Many at once: the merchant recovers them in the portal, from a time on.',
  });
}

export function requestGuidance(row: Row): Guidance | null {
  if (textAt(row, 'string_to_sign') !== '')
    return {
      tone: 'warn',
      title: 'The signature did not match',
      text: 'Send the text below to the merchant. What they signed differs from it in the timestamp, the path or the body; if all are equal, they used another key.',
    };
  const status = Number(row['status']);
  if (status >= 500)
    return {
      tone: 'bad',
      title: `The service failed with ${status}`,
      text: 'Search the logs for the request id. 503 means that the database or the event store was unavailable: see System.',
    };
  return null;
}

export function operationGuidance(row: Row, now: number): Guidance | null {
  const until = Date.parse(textAt(row, 'expires_at'));
  switch (row['status']) {
    case 'pending_approval':
      return {
        tone: 'warn',
        title: `Waits for a second person${until > now ? `, ${span(until - now)} left` : ''}`,
        text: 'Read the reason and open the subject before you decide. Somebody other than the person who requested it approves or rejects it.',
      };
    case 'unconfirmed':
      return {
        tone: until < now ? 'bad' : 'warn',
        title:
          until < now
            ? `Unconfirmed, overdue by ${span(now - until)}`
            : `Unconfirmed, ${span(until - now)} left`,
        text: 'It has been done. A second person confirms that it was right, or reinstates the merchant.',
      };
    case 'failed':
      return {
        tone: 'bad',
        title:
          textAt(row, 'failure.code') === 'changed' ? 'Failed: its subject had changed meanwhile' : 'Failed',
        text: 'Nothing was changed. If it is still needed, request it again from the page of its subject.',
      };
    case 'lapsed':
      return {
        tone: 'warn',
        title: 'Lapsed after 72 hours',
        text: 'Nothing was changed. Request it again if needed.',
      };
    default:
      return null;
  }
}
