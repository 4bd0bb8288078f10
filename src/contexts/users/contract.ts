/** The contract of users: commands, events, views and the payee of payouts. */
export {
  ActivateUser,
  CompleteDeactivation,
  StartDeactivation,
  USER_SUBJECT,
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
  ExistingUser,
  UserActivated,
  UserCreated,
  UserDeactivated,
  UserDeactivationStarted,
  UserEvent,
} from './domain/user.js';
export { UserRows, USERS_VIEW, UsersView } from './views/users.js';
export { AdminUsers } from './application/admin-users.js';
