/** What other contexts may know of users: published events, the payee that payouts fold, accepted commands and queries. */
export type {
  AccountState,
  UserActivated,
  UserCreated,
  UserDeactivated,
  UserDeactivationStarted,
  UserEvent,
} from './domain/user.js';
export { payee, type Payee } from './domain/payee.js';
export { ActivateUser } from './application/activate-user.js';
export { FindUser } from './application/find-user.js';
export type { ExistingUser } from './domain/user.js';
