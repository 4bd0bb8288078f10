import type { CardRequest } from '../../application/ports.js';
import type { BillingAddress } from '../../provider-settings.js';

/** The most of a name that Stripe prints on a card. */
const MOST_ON_CARD = 24;

/** The parameters of a cardholder. `user_id` tells who it is: nothing else is looked up by. */
export function cardholderOf(request: CardRequest, address: BillingAddress) {
  const { userId, details, phoneNumber, email } = request;
  const [year, month, day] = details.dateOfBirth.split('-').map(Number) as [number, number, number];
  return {
    type: 'individual',
    name: nameOnCard(details.firstName, details.lastName),
    phone_number: phoneNumber,
    ...(email === null ? {} : { email }),
    individual: {
      first_name: details.firstName,
      last_name: details.lastName,
      dob: { day, month, year },
    },
    billing: { address: { ...address } },
    status: 'active',
    metadata: { user_id: userId },
  };
}

/** The whole name where there is room for it; otherwise the initials of the first names, and as much of the last as fits. */
export function nameOnCard(first: string, last: string): string {
  const whole = `${first} ${last}`;
  if (whole.length <= MOST_ON_CARD) return whole;
  const initials = first
    .split(/\s+/)
    .map((each) => each[0] ?? '')
    .join(' ');
  return `${initials.slice(0, 7)} ${last}`.slice(0, MOST_ON_CARD).trim();
}
