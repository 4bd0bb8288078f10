import type { User } from '../domain/user.js';

/** What every command on a user answers. */
export interface UserChanged {
  readonly state: User;
  /** Position for which the views can be awaited; null when there was nothing to change. */
  readonly position: string | null;
}
