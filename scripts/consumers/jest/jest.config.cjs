module.exports = { testMatch: ['**/*.spec.cjs'] }
