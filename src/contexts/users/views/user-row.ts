import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AccountState } from '../domain/user.js';

export type UserState = AccountState | 'erased';

/** In the order in which users go through them; the column holds the place. */
export const USER_STATES: readonly UserState[] = [
  'onboarding',
  'active',
  'deactivating',
  'deactivated',
  'erased',
];

/** A row of `users.users`: a user without personal data. */
@Entity({ schema: 'users', name: 'users' })
export class UserRow {
  @PrimaryColumn('uuid') userId!: string;
  @Column('uuid') merchantId!: string;
  @Column('text') externalId!: string | null;
  @Column({
    type: 'smallint',
    transformer: {
      from: (place: number) => USER_STATES[place],
      to: (state: UserState) => USER_STATES.indexOf(state),
    },
  })
  state!: UserState;

  @Column('timestamptz') createdAt!: Date;

  /** EIP-55 checksummed. */
  @Column('text') wallet!: string | null;
  @Column('timestamptz') changedAt!: Date;
}
