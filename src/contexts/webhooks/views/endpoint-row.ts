import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DisableCause, EndpointStatus } from '../domain/webhook-endpoints.js';

/** A row of `webhooks.endpoints`. */
@Entity({ schema: 'webhooks', name: 'endpoints' })
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
