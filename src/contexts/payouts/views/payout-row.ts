import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `payouts.payouts`, for lists that operators and merchants' people browse. */
@Entity({ schema: 'payouts', name: 'payouts' })
export class ListedPayoutRow {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;

  @Column({ type: 'uuid', name: 'merchant_id' })
  merchantId!: string;

  @Column({ type: 'uuid', name: 'user_id' })
  userId!: string;

  /** By the numbers of `STATUS`. */
  @Column({ type: 'smallint' })
  status!: number;

  @Column({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;

  /** In the form in which hashes are compared. */
  @Column({ type: 'text', name: 'transaction_hash' })
  transactionHash!: string;

  /** The payout as the merchant API returns it. */
  @Column({ type: 'text' })
  body!: string;
}
