/** What other contexts may know of users: published events, the payee that payouts fold, accepted commands and queries. */
export { ActivateUser } from './application/activate-user.js';
export { CompleteDeactivation } from './application/complete-deactivation.js';
export { FindUser } from './application/find-user.js';
export { StartDeactivation, type UserChanged } from './application/start-deactivation.js';
export { IsWalletOfAnother } from './application/is-wallet-of-another.js';
export { userJson, type UserJson } from './application/user-json.js';
export { payee, type Payee } from './domain/payee.js';
export { USER_EVENTS } from './domain/user.js';
export type {
  AccountState,
  ExistingUser,
  UserActivated,
  UserCreated,
  UserDeactivated,
  UserDeactivationStarted,
  UserEvent,
} from './domain/user.js';

/** Name of the read model of users, to be awaited after an activation. */
export const USERS_VIEW = 'users.views';
