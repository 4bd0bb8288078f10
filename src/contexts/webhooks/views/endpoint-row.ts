import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DisableCause, EndpointStatus } from '../domain/webhook-endpoints.js';

/** What lists display of a row of `webhooks.endpoint_snapshots`: no secrets. */
@Entity({ schema: 'webhooks', name: 'endpoint_snapshots' })
export class EndpointRow {
  @PrimaryColumn('uuid', { name: 'endpoint_id' }) id!: string;
  @Column('uuid') merchantId!: string;
  @Column('text') url!: string;
  @Column('text') description!: string | null;
  @Column('jsonb') eventTypes!: readonly string[] | null;
  @Column('text') status!: EndpointStatus | 'deleted';
  @Column('text') disabledCause!: DisableCause | null;
  @Column('timestamptz') disabledAt!: Date | null;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz') updatedAt!: Date;
}
