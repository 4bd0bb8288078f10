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
@Entity({ schema: 'users', name: 'users', synchronize: false })
export class UserRow {
  @PrimaryColumn({ name: 'user_id', type: 'uuid' })
  userId!: string;

  @Column({ name: 'merchant_id', type: 'uuid' })
  merchantId!: string;

  @Column({ name: 'external_id', type: 'text', nullable: true })
  externalId!: string | null;

  @Column({
    type: 'smallint',
    transformer: {
      from: (place: number) => USER_STATES[place],
      to: (state: UserState) => USER_STATES.indexOf(state),
    },
  })
  state!: UserState;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** EIP-55 checksummed. */
  @Column({ type: 'text', nullable: true })
  wallet!: string | null;

  @Column({ name: 'changed_at', type: 'timestamptz' })
  changedAt!: Date;
}
