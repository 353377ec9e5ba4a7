"""Decisions about the crew: commissions, promotions, vacancies, skill profiles."""
