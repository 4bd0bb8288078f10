import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `payouts.payouts`, for lists that operators and merchants' people browse. */
@Entity({ schema: 'payouts', name: 'payouts' })
export class ListedPayoutRow {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') merchantId!: string;
  @Column('uuid') userId!: string;

  /** By the numbers of `STATUS`. */
  @Column('smallint') status!: number;
  @Column('timestamptz') createdAt!: Date;

  /** In the form in which hashes are compared. */
  @Column('text') transactionHash!: string;

  /** The payout as the merchant API returns it. */
  @Column('text') body!: string;
}
