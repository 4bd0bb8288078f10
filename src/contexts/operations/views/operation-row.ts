import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `operations.operations`. */
@Entity({ schema: 'operations', name: 'operations' })
export class OperationRow {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  name!: string;

  @Column('text')
  status!: string;

  /** Of the person who requested it; null: the shell. */
  @Column('text', { name: 'operator_id', nullable: true })
  operatorId!: string | null;

  @Column('text', { name: 'subject_id' })
  subjectId!: string;

  @Column('uuid', { name: 'merchant_id', nullable: true })
  merchantId!: string | null;

  @Column({ type: 'timestamptz', name: 'requested_at', precision: 3 })
  requestedAt!: Date;

  /** {@link operationJson} as text. */
  @Column('text')
  body!: string;
}
