import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `exchange.orders`, for lists that operators and merchants' people browse. */
@Entity({ schema: 'exchange', name: 'orders' })
export class ListedOrderRow {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;

  @Column({ type: 'uuid', name: 'merchant_id' })
  merchantId!: string;

  @Column({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;

  /** All of its events, personal fields sealed. */
  @Column({ type: 'text' })
  events!: string;
}
