import { unavailable } from '../provider-client.js';

const CARDHOLDER_ID = /^ich_\w{4,100}$/;
const CARD_ID = /^ic_\w{4,100}$/;

/** What is read of objects: the package's types are no more than what Stripe promises. */
interface Made {
  readonly id: string;
  readonly created: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}
export interface Cardholder extends Made {
  readonly status: string;
  readonly requirements?: { readonly disabled_reason?: unknown };
}
export interface Card extends Made {
  readonly status: string;
  readonly type: string;
  readonly cardholder: { readonly id: string };
}

export function byAge(a: Made, b: Made): number {
  return a.created - b.created || (a.id < b.id ? -1 : 1);
}

export function isOf(object: unknown, userId: string): boolean {
  return (object as Partial<Made> | null)?.metadata?.['user_id'] === userId;
}

/** A cardholder of that user, whatever Stripe says. */
export function cardholderIn(userId: string) {
  return (object: unknown): Cardholder => {
    const { id, created, status } = object as Partial<Cardholder>;
    if (!CARDHOLDER_ID.test(String(id)) || typeof created !== 'number' || typeof status !== 'string')
      throw unavailable('Stripe', 'the response is no cardholder');
    if (!isOf(object, userId)) throw unavailable('Stripe', 'the cardholder is somebody else');
    return object as Cardholder;
  };
}

export function cardIn(userId: string, cardholder: string) {
  return (object: unknown): Card => {
    const { id, created, status, type, cardholder: holder } = object as Partial<Card>;
    if (!CARD_ID.test(String(id)) || typeof created !== 'number' || typeof status !== 'string')
      throw unavailable('Stripe', 'the response is no card');
    if (!isOf(object, userId) || holder?.id !== cardholder || type !== 'virtual')
      throw unavailable('Stripe', "the card is somebody else's, or no virtual one");
    return object as Card;
  };
}
