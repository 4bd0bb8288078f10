import { ApiProperty, Field, Nested, ResourceOf, PageOf } from '../../../../platform/dto/field.js';
import { integer, oneOf, text, TIME, UUID } from '../../../../platform/dto/rules.js';
import { WriteBody } from '../../../../platform/http/admin/writes.js';
import { Filter, ListParameters } from '../../../../platform/http/list-query.js';
import { MAX_REQUESTS_PER_MINUTE } from '../../domain/merchant.js';
import type { MerchantListRow } from '../../views/merchant-list.js';
import { label, listOf, networks } from './rules.js';

const STATUSES = ['active', 'suspended'];
const STRINGS = { type: 'array', items: { type: 'string' } };

export class MerchantsQuery extends ListParameters {
  @Filter(oneOf(STATUSES), 'Only those of this status.') status?: 'active' | 'suspended';

  @Filter(text({ maxLength: 255 }), 'Only those whose name contains this, in either letter case.')
  name?: string;
}

export class NewMerchantBody extends WriteBody {
  @Field(label, { description: 'People who sign up read it too.' }) name!: string;
}

class EmbeddingBody {
  @Field(listOf(text()), { optional: true, description: 'Origins that may show its pages in a frame.' })
  origins?: readonly string[];

  @Field(listOf(text()), { optional: true, description: 'Origins, or schemes of apps such as `shopapp:`.' })
  callbacks?: readonly string[];

  @Field(label, { optional: true, nullable: true, description: 'Null: the name of the merchant.' })
  display_name?: string | null;
}

class LimitsBody {
  @Field(integer(1, MAX_REQUESTS_PER_MINUTE), { nullable: true, description: 'Null: the default.' })
  requests_per_minute!: number | null;
}

/** Members that are absent stay as they are; lists replace the former ones. */
export class MerchantBody extends WriteBody {
  @Field(label, { optional: true }) name?: string;
  @Field(networks, { optional: true, description: 'Where it may call from; empty: anywhere.' })
  ip_allow_list?: readonly string[];

  @Nested(() => EmbeddingBody, { optional: true }) embedding?: EmbeddingBody;
  @Nested(() => LimitsBody, { optional: true }) limits?: LimitsBody;
}

class DisplayedEmbedding {
  @ApiProperty(STRINGS) origins!: readonly string[];
  @ApiProperty(STRINGS) callbacks!: readonly string[];
  @ApiProperty({ type: 'string', nullable: true }) display_name!: string | null;
}

class DisplayedLimits {
  @ApiProperty({ type: 'integer' }) requests_per_minute!: number;
}

/** A merchant; its id is the value of `svc-api-key`. */
export class AdminMerchant {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string' }) name!: string;
  @ApiProperty({ type: 'string', enum: STATUSES }) status!: string;
  @ApiProperty(STRINGS) ip_allow_list!: readonly string[];
  @Nested(() => DisplayedEmbedding) embedding!: DisplayedEmbedding;
  @Nested(() => DisplayedLimits) limits!: DisplayedLimits;
  @ApiProperty(TIME) created_at!: Date;
}

export class MerchantResponse extends ResourceOf('merchant', AdminMerchant) {}

export class MerchantWritten extends MerchantResponse {
  @ApiProperty(UUID) operation_id!: string;
}

export class MerchantsResponse extends PageOf('merchants', AdminMerchant) {}

export function merchantJson(row: MerchantListRow, defaultLimit: number): AdminMerchant {
  const { origins, callbacks, displayName: display_name } = row;
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    ip_allow_list: row.ipAllowList,
    embedding: { origins, callbacks, display_name },
    limits: { requests_per_minute: row.requestsPerMinute ?? defaultLimit },
    created_at: row.registeredAt,
  };
}
