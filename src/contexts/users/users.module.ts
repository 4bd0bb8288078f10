import { CONTEXTS, defineContext } from '../../platform/context.js';
import { Global, Module } from '@nestjs/common';
import { ActivateUserHandler } from './application/activate-user.js';
import { CompleteDeactivationHandler } from './application/complete-deactivation.js';
import { CreateUserHandler } from './application/create-user.js';
import { EraseUserHandler } from './application/erase-user.js';
import { erasingSaga } from './application/erasing/erasing-saga.js';
import { ErasingWorker, partsOf } from './application/erasing/erasing-worker.js';
import { forgetPerson } from './application/erasing/forget-person.js';
import { LocateUser } from './application/locate-user.js';
import { StartDeactivationHandler } from './application/start-deactivation.js';
import { UserClaims } from './application/user-claims.js';
import { USER_EVENTS } from './domain/user-events.js';
import { UsersController } from './http/users.controller.js';
import { Users1795000000300 } from './migrations/1795000000300-users.js';
import { UsersView } from './views/users.js';
import { walletsProjection, WalletsView } from './views/wallets.js';
import { userHistory } from './domain/history.js';

/** Users of merchants: created, looked up, activated by their onboarding, deactivated by operators. */
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
    WalletsView,
    UsersView,
  ],
  exports: [UsersView],
})
export class UsersModule {}

export const users = defineContext({
  name: 'users',
  module: () => UsersModule,
  events: USER_EVENTS,
  histories: [userHistory],
  sealed: { 'user.created.v1': { fields: ['phone_number', 'email'], subject: 'user_id' } },
  subscriptions: (get) => [
    walletsProjection,
    erasingSaga(
      () => partsOf(get(CONTEXTS)),
      () => get(ErasingWorker).wake(),
    ),
  ],
  forgets: forgetPerson,
  programs: { user: async () => (await import('./cli/user.js')).userProgram },
  migrations: [Users1795000000300],
  operator: {},
});
