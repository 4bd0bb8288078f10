import { CONTROL_CHARACTERS } from '../../../kernel/text.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { existing, refused, type UserEvent, type User } from './user.js';

/** In code points. */
const MAX_REASON_LENGTH = 500;
const MAX_ACTOR_LENGTH = 100;

/** Events hold it for ever: no personal data of the user. */
export interface OperatorAct {
  readonly reason: string;
  readonly actor: string;
}

/** Trimmed. Throws `bad_request` when the reason or the actor is blank, too long or holds control characters. */
export function readAct({ reason, actor }: OperatorAct): OperatorAct {
  return {
    reason: textOf('reason', reason, MAX_REASON_LENGTH),
    actor: textOf('actor', actor, MAX_ACTOR_LENGTH),
  };
}

function textOf(name: string, given: string, max: number): string {
  const text = given.trim();
  if (text === '' || [...text].length > max || CONTROL_CHARACTERS.test(text)) {
    throw new DomainError('bad_request', `The ${name} must have 1 to ${max} characters and no line breaks`);
  }
  return text;
}

/** onboarding or active to deactivating: from here on no payout is accepted for the user. */
export function startDeactivation(command: OperatorAct & { at: string }, state: User): UserEvent[] {
  const { userId, merchantId, accountState } = existing(state);
  const { at, reason, actor } = command;
  if (accountState === 'deactivating') return [];
  if (accountState === 'deactivated') throw refused('The user is deactivated already');
  return [
    {
      type: 'user.deactivation_started.v1',
      data: { user_id: userId, merchant_id: merchantId, at, reason, actor },
    },
  ];
}

/**
 * deactivating to deactivated. `pendingPayouts` is null until payouts are counted up to the start of the deactivation;
 * from then on it only falls, because no payout is accepted for a user who is deactivating.
 */
export function completeDeactivation(
  command: { pendingPayouts: number | null; at: string },
  state: User,
): UserEvent[] {
  const found = existing(state);
  const { userId, merchantId } = found;
  if (found.accountState === 'deactivated') return [];
  if (found.accountState !== 'deactivating')
    throw refused(`A user who is ${found.accountState} is not being deactivated`);
  if (command.pendingPayouts === null) {
    throw new DomainError(
      'unavailable',
      'The pending payouts of the user are still being counted; try again',
    );
  }
  if (command.pendingPayouts > 0) throw refused(`${command.pendingPayouts} payouts of the user are pending`);
  const { reason, actor } = found.deactivation;
  const data = { user_id: userId, merchant_id: merchantId, at: command.at, reason, actor };
  return [{ type: 'user.deactivated.v1', data }];
}

/** Throws `invalid_transition` unless the user is deactivated. */
export function eraseUser(command: OperatorAct & { at: string }, state: User): UserEvent[] {
  if (state.accountState === 'erased') return [];
  const { userId, merchantId, accountState } = existing(state);
  if (accountState === 'deactivating')
    throw refused('The user is deactivating: wait until no payout is pending and the user is deactivated');
  if (accountState !== 'deactivated') throw refused(`The user is ${accountState}: deactivate the user first`);
  const { at, reason, actor } = command;
  return [{ type: 'user.erased.v1', data: { user_id: userId, merchant_id: merchantId, at, reason, actor } }];
}
