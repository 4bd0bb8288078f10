import { CONTEXTS, defineContext, type Context } from '../../platform/context.js';
import { provideSaga } from '../../platform/projections/subscription-registry.js';
import { Global, Module } from '@nestjs/common';
import {
  ActivateUserHandler,
  CompleteDeactivationHandler,
  EraseUserHandler,
  StartDeactivationHandler,
} from './application/user-commands.js';
import { CreateUserHandler, UserClaims } from './application/create-user.js';
import { erasingSaga, ErasingWorker, partsOf, forgetPerson } from './application/erasure-worker.js';
import { LocateUser } from './application/locate-user.js';
import { USER_EVENTS } from './domain/user.js';
import { UsersController } from './http/users.controller.js';
import { Users1795000000300 } from './migrations/1795000000300-users.js';
import { UsersView, walletsProjection, WalletsView } from './views/users.js';
import { userHistory } from './domain/history.js';

@Global()
@Module({
  controllers: [UsersController],
  providers: [
    CreateUserHandler,
    LocateUser,
    UserClaims,
    ActivateUserHandler,
    StartDeactivationHandler,
    CompleteDeactivationHandler,
    EraseUserHandler,
    ErasingWorker,
    provideSaga([CONTEXTS, ErasingWorker], (contexts: readonly Context[], worker: ErasingWorker) =>
      erasingSaga(partsOf(contexts), () => worker.wake()),
    ),
    WalletsView,
    UsersView,
  ],
  exports: [UsersView],
})
class UsersModule {}

export const users = defineContext({
  name: 'users',
  module: () => UsersModule,
  events: USER_EVENTS,
  histories: [userHistory],
  sealed: { 'user.created.v1': { fields: ['phone_number', 'email'], subject: 'user_id' } },
  readModels: [walletsProjection],
  document: { tags: { Users: [1, 'The people who are paid.'] } },
  forgets: forgetPerson,
  programs: { user: async () => (await import('./cli/user.js')).userProgram },
  migrations: [Users1795000000300],
  operator: {},
});
