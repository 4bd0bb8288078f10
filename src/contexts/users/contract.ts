/** The contract of users: published events, the payee that payouts fold, accepted commands and views. */
export {
  ActivateUser,
  CompleteDeactivation,
  StartDeactivation,
  USER_SUBJECT,
  type UserChanged,
} from './application/user-commands.js';
export {
  AdminUserWritten,
  OnboardingProgress,
  userJson,
  UserResponse,
  type OnboardedUser,
  type OnboardingJson,
} from './application/user-json.js';
export { isSameSubscriber, parsePhoneNumber } from './application/phone-number.js';
export { payee, type Payee } from './domain/user.js';
export type {
  AccountState,
  ExistingUser,
  UserActivated,
  UserCreated,
  UserDeactivated,
  UserDeactivationStarted,
  UserErased,
  UserEvent,
} from './domain/user.js';
export { UserIds, USERS_VIEW, UsersView } from './views/users.js';
export { AdminUsers, type UserWrite } from './application/admin-users.js';
