import { CommandBus } from '@nestjs/cqrs';
import { defineOperation } from '../../../platform/operations/operation-definition.js';
import { USER_SUBJECT } from '../../users/contract.js';
import { SettleDeactivation } from './deactivation-worker.js';

/** The end of a deactivation, which waits for the payouts of the user. */
export const DEACTIVATION_OPERATIONS = [
  defineOperation({
    ...USER_SUBJECT,
    name: 'users.complete_deactivation',
    execute: async ({ subjectId }, get) =>
      void (await get(CommandBus).execute(new SettleDeactivation(subjectId))),
  }),
];
