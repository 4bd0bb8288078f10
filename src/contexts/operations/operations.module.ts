import { Module } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { SystemModule } from './system.module.js';

@Module({ imports: [SystemModule] })
class OperationsModule {}

export const operations = defineContext({
  name: 'operations',
  module: () => OperationsModule,
  document: {
    tags: {
      'Admin: system': [28, 'The state of the service.'],
      'Admin: search': [31, 'Finds anything by its id.'],
    },
  },
});
