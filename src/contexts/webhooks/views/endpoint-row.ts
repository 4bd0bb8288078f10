import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DisableCause, EndpointStatus } from '../domain/webhook-endpoints.js';

/** A row of `webhooks.endpoints`. */
@Entity({ schema: 'webhooks', name: 'endpoints', synchronize: false })
export class EndpointRow {
  @PrimaryColumn({ name: 'endpoint_id', type: 'uuid' })
  id!: string;

  @Column({ name: 'merchant_id', type: 'uuid' })
  merchantId!: string;

  @Column({ type: 'text' })
  url!: string;

  @Column({ type: 'text', nullable: true })
  description!: string | null;

  @Column({ name: 'event_types', type: 'jsonb', nullable: true })
  eventTypes!: readonly string[] | null;

  @Column({ type: 'text' })
  status!: EndpointStatus | 'deleted';

  @Column({ name: 'disabled_cause', type: 'text', nullable: true })
  disabledCause!: DisableCause | null;

  @Column({ name: 'disabled_at', type: 'timestamptz', nullable: true })
  disabledAt!: Date | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt!: Date;
}
