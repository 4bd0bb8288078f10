import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `exchange.orders`, for lists that operators and merchants' people browse. */
@Entity({ schema: 'exchange', name: 'orders' })
export class ListedOrderRow {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') merchantId!: string;
  @Column('timestamptz') createdAt!: Date;

  /** All of its events, personal fields sealed. */
  @Column('text') events!: string;
}
