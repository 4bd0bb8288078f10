import { defineContext } from '../../platform/context.js';
import { provideSaga } from '../../platform/projections/subscription-registry.js';
import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import {
  ActivateUserHandler,
  CompleteDeactivationHandler,
  CreateUserHandler,
  EraseUserHandler,
  StartDeactivationHandler,
  UserClaims,
} from './users/users.commands.js';
import { AdminUsers } from './users/admin-users.service.js';
import { erasingSaga, ErasureProcessor } from './users/erasure.processor.js';
import { AdminUsersController } from './users/admin-users.controller.js';
import { UsersController } from './users/users.controller.js';
import { Users1795000000310 } from './migrations/1795000000310-users.js';
import { UsersView, usersProjection } from './users/users.view.js';
import { userHistory } from './users/user.js';

@Global()
@Module({
  imports: [DiscoveryModule],
  controllers: [UsersController, AdminUsersController],
  providers: [
    CreateUserHandler,
    UserClaims,
    ActivateUserHandler,
    StartDeactivationHandler,
    CompleteDeactivationHandler,
    EraseUserHandler,
    ErasureProcessor,
    provideSaga([ErasureProcessor], (erasures: ErasureProcessor) => erasingSaga(() => erasures.wake())),
    UsersView,
    AdminUsers,
  ],
  exports: [UsersView, AdminUsers],
})
class UsersModule {}

export const users = defineContext({
  name: 'users',
  module: () => UsersModule,
  histories: [userHistory],
  sealed: { 'user.created.v1': { fields: ['phone_number', 'email'], subject: 'user_id' } },
  erases: { 'user.erased.v1': 'user_id' },
  readModels: [usersProjection],
  document: {
    tags: {
      Users: [1, 'The people who are paid.'],
      'Admin: users': [23, 'Users of all merchants, and how operators deactivate and erase them.'],
    },
  },
  migrations: [Users1795000000310],
});
