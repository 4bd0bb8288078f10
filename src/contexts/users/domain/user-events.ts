import type { DomainEvent } from '../../../kernel/aggregate.js';

/** `phone_number` and `email` are sealed in the store with the key of the person. */
export type UserCreated = DomainEvent<
  'user.created.v1',
  {
    user_id: string;
    merchant_id: string;
    external_id: string | null;
    phone_number: string;
    email: string | null;
    created_at: string;
  }
>;
/** `issuer_wallet_address` is EIP-55 checksummed. */
export type UserActivated = DomainEvent<
  'user.activated.v1',
  { user_id: string; merchant_id: string; issuer_wallet_address: string; activated_at: string }
>;

/** `reason` and `actor` are an operator's: why, and who it was. No personal data of the user. */
interface Left {
  user_id: string;
  merchant_id: string;
  at: string;
  reason: string;
  actor: string;
}
export type UserDeactivationStarted = DomainEvent<'user.deactivation_started.v1', Left>;
/** `reason` and `actor` are those of the start. */
export type UserDeactivated = DomainEvent<'user.deactivated.v1', Left>;

/** From here on everything that tells who the person was is dropped (contract.md 8.10). */
export type UserErased = DomainEvent<'user.erased.v1', Left>;

export type UserEvent = UserCreated | UserActivated | UserDeactivationStarted | UserDeactivated | UserErased;

/** Stored names of all user events. */
export const USER_EVENTS = [
  'user.created.v1',
  'user.activated.v1',
  'user.deactivation_started.v1',
  'user.deactivated.v1',
  'user.erased.v1',
] as const satisfies readonly UserEvent['type'][];
