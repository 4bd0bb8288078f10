import { Module, type OnModuleInit } from '@nestjs/common';
import { EventRegistry, type EventTypeDefinition } from '../../platform/event-store/event-registry.js';
import { SubscriptionRegistry } from '../../platform/projections/subscription-registry.js';
import { ActivateUserHandler } from './application/activate-user.js';
import { CompleteDeactivationHandler } from './application/complete-deactivation.js';
import { CreateUserHandler } from './application/create-user.js';
import { FindUserByWalletHandler } from './application/find-user-by-wallet.js';
import { IsWalletOfAnotherHandler } from './application/is-wallet-of-another-handler.js';
import { FindUserHandler } from './application/find-user.js';
import { LocateUserHandler } from './application/locate-user.js';
import { StartDeactivationHandler } from './application/start-deactivation.js';
import { UserClaims } from './application/user-claims.js';
import { USER_EVENTS } from './domain/user.js';
import { UsersController } from './http/users.controller.js';
import { walletsProjection, WalletsView } from './views/wallets.js';

const SEALED: Readonly<Record<string, EventTypeDefinition['sealed']>> = {
  'user.created.v1': { fields: ['phone_number', 'email'], subject: 'user_id' },
};

/** Users of merchants: created, looked up, activated by their onboarding, deactivated by operators. */
@Module({
  controllers: [UsersController],
  providers: [
    CreateUserHandler,
    FindUserHandler,
    FindUserByWalletHandler,
    LocateUserHandler,
    UserClaims,
    IsWalletOfAnotherHandler,
    ActivateUserHandler,
    StartDeactivationHandler,
    CompleteDeactivationHandler,
    WalletsView,
  ],
})
export class UsersModule implements OnModuleInit {
  constructor(
    private readonly events: EventRegistry,
    private readonly subscriptions: SubscriptionRegistry,
  ) {}

  onModuleInit(): void {
    this.events.register(USER_EVENTS.map((type) => ({ type, sealed: SEALED[type] })));
    this.subscriptions.register(walletsProjection);
  }
}
