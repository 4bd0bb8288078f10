import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `operations.operations`. */
@Entity({ schema: 'operations', name: 'operations' })
export class OperationRow {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') name!: string;
  @Column('text') status!: string;

  /** Of the person who requested it; null: the shell. */
  @Column('text') operatorId!: string | null;
  @Column('text') subjectId!: string;
  @Column('uuid') merchantId!: string | null;
  @Column('timestamptz') requestedAt!: Date;

  /** {@link operationJson} as text. */
  @Column('text') body!: string;
}
