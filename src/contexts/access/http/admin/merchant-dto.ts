import { ApiProperty, Field, Nested, ResourceOf, PageOf } from '../../../../platform/dto/field.js';
import { integer, oneOf, text, UUID } from '../../../../platform/dto/rules.js';
import { WriteBody } from '../../../../platform/http/admin/writes.js';
import { Filter, ListParameters } from '../../../../platform/http/list-query.js';
import { MAX_REQUESTS_PER_MINUTE } from '../../domain/merchant.js';
import { AdminMerchant, MERCHANT_STATUSES } from '../../views/merchant-list.js';
import { label, listOf, networks } from './rules.js';

export class MerchantsQuery extends ListParameters {
  @Filter(oneOf(MERCHANT_STATUSES), 'Only those of this status.') status?: 'active' | 'suspended';

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

export class MerchantResponse extends ResourceOf('merchant', AdminMerchant) {}

export class MerchantWritten extends MerchantResponse {
  @ApiProperty(UUID) operation_id!: string;
}

export class MerchantsResponse extends PageOf('merchants', AdminMerchant) {}
