export {
  ActivateUser,
  CompleteDeactivation,
  StartDeactivation,
  USER_SUBJECT,
} from './users/users.commands.js';
export {
  AdminUserWritten,
  OnboardingProgress,
  userJson,
  UserResponse,
  type OnboardedUser,
  type OnboardingJson,
} from './users/user-json.view.js';
export { isSameSubscriber, parsePhoneNumber } from './users/phone-number.service.js';
export { payee, type Payee } from './users/user.js';
export type {
  ExistingUser,
  UserActivated,
  UserCreated,
  UserDeactivated,
  UserDeactivationStarted,
  UserEvent,
} from './users/user.js';
export { USERS_VIEW, UsersView } from './users/users.view.js';
export { AdminUsers } from './users/admin-users.service.js';
