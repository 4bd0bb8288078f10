/** What other contexts may know of users: published events, the payee that payouts fold, accepted commands and views. */
export { ActivateUser } from './application/activate-user.js';
export { CompleteDeactivation } from './application/complete-deactivation.js';
export { StartDeactivation, type UserChanged } from './application/start-deactivation.js';
export { userJson, UserResponse } from './views/user-json.js';
export { payee, type Payee } from './domain/payee.js';
export { readAct, type OperatorAct } from './domain/leaving.js';
export type { AccountState, ExistingUser } from './domain/user.js';
export { USER_EVENTS } from './domain/user-events.js';
export type {
  UserActivated,
  UserCreated,
  UserDeactivated,
  UserDeactivationStarted,
  UserErased,
  UserEvent,
} from './domain/user-events.js';
export { UsersView } from './views/users.js';
export { USERS_VIEW } from './views/wallets.js';
