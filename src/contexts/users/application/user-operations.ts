import { CommandBus } from '@nestjs/cqrs';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import {
  defineOperation,
  type Get,
  type RunningOperation,
} from '../../../platform/operations/operation-definition.js';
import { eraseUser, startDeactivation, type OperatorAct } from '../domain/deactivation.js';
import { refused, user, type User, userStreams } from '../domain/user.js';
import { EraseUser, StartDeactivation } from './user-commands.js';

const MAX_ACTOR_LENGTH = 100;

/** Of a decision that only checks. */
const NO_ACT = { reason: '', actor: '', at: '' };

/** What every operation on a user has in common (admin-api.md 4). None has parameters with personal data. */
export const USER_SUBJECT = { scope: 'users:write', subject: 'user', streams: userStreams } as const;

export const USER_OPERATIONS = [
  defineOperation({
    ...USER_SUBJECT,
    name: 'users.deactivate',
    check: async (_, get, userId) => {
      const state = await stateOf(get, userId);
      if (state.accountState === 'deactivating') throw refused('The user is deactivating already');
      startDeactivation(NO_ACT, state);
    },
    execute: async (operation, get) => {
      await get(CommandBus).execute(new StartDeactivation(operation.subjectId, actOf(operation)));
    },
  }),
  defineOperation({
    ...USER_SUBJECT,
    name: 'users.erase',
    secondPerson: 'before',
    check: async (_, get, userId) => {
      const state = await stateOf(get, userId);
      if (state.accountState === 'erased') throw refused('The user is erased already');
      eraseUser(NO_ACT, state);
    },
    execute: async (operation, get) => {
      await get(CommandBus).execute(new EraseUser(operation.subjectId, actOf(operation)));
    },
  }),
];

async function stateOf(get: Get, userId: string): Promise<User> {
  return (await get(CommandLoop).load(user, userId)).state;
}

/** Events hold fewer characters than an operator's name may have. */
function actOf({ reason, actor }: RunningOperation): OperatorAct {
  return { reason, actor: [...actor].slice(0, MAX_ACTOR_LENGTH).join('') };
}
