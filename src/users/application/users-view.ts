/** Name of the read model of users, to be awaited after an activation. */
export const USERS_VIEW = 'users.views';
