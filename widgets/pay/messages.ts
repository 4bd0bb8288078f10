import type { Messages } from '../../src/contexts/exchange/pay/pay.dto.js';
import type { PayFacts } from './api.js';
import type { Format } from './page.js';

/** Formats a countdown as `1:05`, or as `1:00:05` from an hour on. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60];
  const hours = Math.floor(seconds / 3600);
  const [minutes, rest] = parts.map((part) => String(part).padStart(2, '0'));
  return hours > 0 ? `${hours}:${minutes}:${rest}` : `${parts[0]}:${rest}`;
}

/** Returns the spoken text of a countdown at some minutes only; null at the other times. */
export function spokenMilestone(format: Format, ms: number): string | null {
  const seconds = Math.ceil(ms / 1000);
  const minutes = [30, 10, 5, 1].find((each) => each * 60 === seconds);
  if (minutes === undefined) return null;
  return minutes === 1 ? format('minuteLeft') : format('minutesLeft', { minutes });
}

/** Returns the name of a chain, which differs in the sandbox. */
export function chainName(format: Format, { sandbox }: Pick<PayFacts, 'sandbox'>, chain: string): string {
  return sandbox ? format('sandboxChain', { chain }) : chain;
}

/** Returns the message for the failure of an order. */
export function reasonMessage(reason: string | null): keyof Messages {
  switch (reason) {
    case 'deposit_too_low':
      return 'failedTooLow';
    case 'no_deposit':
      return 'failedNoDeposit';
    default:
      return 'failedOther';
  }
}
