import type { Form } from './forms.js';
import { invalid, require } from './refusals.js';

const DAY_MS = 86_400_000;
const NAME = /^[\p{Script=Latin} .,'-]+$/u;

/** By the descriptions of the parameters. */
export function checkPerson(form: Form, isNew: boolean): void {
  const { name, type, email, phone_number: phone, status } = form;
  const { individual = {}, billing } = form as { individual?: Record<string, Form>; billing?: Form };
  if (isNew) {
    for (const each of ['line1', 'city', 'postal_code', 'country'])
      require((billing?.['address'] as Form | undefined)?.[each], `billing[address][${each}]`);
    const printed = require(name, 'name');
    if (printed.length > 24 || !NAME.test(printed))
      throw invalid('name', 'has at most 24 characters, and no numbers or special ones');
    if (type !== 'individual') throw invalid('type', 'must be one of company or individual');
  }
  for (const each of ['first_name', 'last_name'])
    if (individual[each] !== undefined && !NAME.test(String(individual[each])))
      throw invalid(`individual[${each}]`, 'contains numbers, special characters or non-Latin letters');
  const { day, month, year } = (individual['dob'] ?? {}) as Record<string, string>;
  if (individual['dob'] !== undefined) {
    const born = Date.UTC(Number(year), Number(month) - 1, Number(day));
    if (Number.isNaN(born) || Date.now() - born < 13 * 365.25 * DAY_MS)
      throw invalid('individual[dob][year]', 'cardholders must be older than 13 years');
  }
  if (phone !== undefined && !/^\+[1-9]\d{6,14}$/.test(phone as string))
    throw invalid('phone_number', 'is not a valid phone number');
  if (email !== undefined && !/^[^@\s]+@[^@\s]+\.[a-z]{2,}$/i.test(email as string))
    throw invalid('email', 'is not a valid email address');
  if (status !== undefined && status !== 'active' && status !== 'inactive')
    throw invalid('status', 'must be one of active or inactive');
}
