Feature: An operator looks on while a session executes
  From any terminal, and without disturbing it.

  Scenario: Viewing current iteration and progress
    Given an agent that is executing, in iteration 4 of at most 10
    When the operator looks at its progress
    Then the number of iterations is shown
    And the limit of iterations is shown
    And the progress is shown in percent

  Scenario: Viewing exit condition status
    Given an agent that is executing until three exit conditions, of which one is met
    When the operator looks at its progress
    Then each exit condition is listed
    And each one is shown as met or not met
    And it is shown that 1 of 3 is met

  Scenario: Viewing recent activity log
    Given an agent that is executing, in iteration 4 of at most 10
    When the operator looks at its progress
    Then what happened lately is listed
    And each entry has its time
    And the entries are in the order of time

  Scenario: Progress updates in real-time
    Given an agent that is executing, in iteration 4 of at most 10
    And the operator is looking on
    When the agent ends an iteration
    Then what the operator sees changes by itself
    And that takes at most 5 seconds

  Scenario: Viewing checkpoint history
    Given an agent that is executing, in iteration 4 of at most 10
    And a checkpoint was made after each iteration
    When the operator looks at the checkpoints
    Then all are listed with their times
    And each has the iteration after which it was made
    And the operator can look into one of them
