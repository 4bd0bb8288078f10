/** Amounts as people read them: no more digits than tell something, never rounded up. */
export function shortAmount(amount: string): string {
  const [whole = '0', fraction = ''] = amount.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, '\u202f');
  // Four digits that tell something, and as many zeros as stand before them.
  const leading = whole === '0' ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0;
  const kept = fraction.slice(0, Math.max(leading + 4, 4)).replace(/0+$/, '');
  return kept === '' ? grouped : `${grouped}.${kept}`;
}

/** `1:05`, or `1:00:05` from an hour on. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60];
  const hours = Math.floor(seconds / 3600);
  const [minutes, rest] = parts.map((part) => String(part).padStart(2, '0'));
  return hours > 0 ? `${hours}:${minutes}:${rest}` : `${parts[0]}:${rest}`;
}

/** What a screen reader is told of a countdown: now and then, not every second. Null when there is nothing to say. */
export function spokenMilestone(ms: number): string | null {
  const seconds = Math.ceil(ms / 1000);
  const minutes = [30, 10, 5, 1].find((each) => each * 60 === seconds);
  return minutes === undefined ? null : `${minutes} minute${minutes === 1 ? '' : 's'} left`;
}

/** What people type for a decimal: `1,5`, ` 1.5`, `.5`; null for what is none. */
export function readAmount(text: string): string | null {
  const plain = text.trim().replace(',', '.').replace(/^\./, '0.').replace(/\.$/, '');
  if (!/^[0-9]{1,30}(\.[0-9]{1,30})?$/.test(plain)) return null;
  const [whole = '', fraction] = plain.split('.');
  const canonical = whole.replace(/^0+(?=\d)/, '');
  return fraction === undefined ? canonical : `${canonical}.${fraction}`;
}

interface Unexchanged {
  readonly amount_refundable: string;
  readonly late_deposits: readonly { readonly amount: string }[];
}

/** What came and has to be sent back; late deposits are part of it. Null when nothing has, or all was. */
export function refundableWords(order: Unexchanged, symbol: string): string | null {
  if (!(Number(order.amount_refundable) > 0)) return null;
  const told = (amount: string): string => `${shortAmount(amount)} ${symbol}`;
  const late = order.late_deposits.map(({ amount }) => told(amount)).join(', ');
  const total = `${told(order.amount_refundable)} of what you sent are not exchanged and have to be sent back.`;
  return late === '' ? total : `${total} Arrived too late: ${late}.`;
}

/** Why an order failed, in words for the one who paid. */
export function reasonWords(reason: string | null): string {
  switch (reason) {
    case 'deposit_too_low':
      return 'Less arrived than the order asked for, and the time to top it up is over.';
    case 'no_deposit':
      return 'You told us that you had paid, but no deposit arrived within 24 hours.';
    default:
      return 'The exchange could not be completed.';
  }
}
